// GLSL. Light is linear until the last pass.
const VERTEX_HEAD = `#version 300 es
precision highp float;
layout(location = 0) in vec3 a_position;
layout(location = 1) in vec2 a_normal;
layout(location = 2) in float a_gap;
layout(location = 3) in vec3 a_colour;
uniform mat4 u_model, u_view;
uniform float u_point;
vec3 unfold(vec2 e) {
  vec3 n = vec3(e, 1.0 - abs(e.x) - abs(e.y));
  float t = max(-n.z, 0.0);
  n.xy += vec2(n.x >= 0.0 ? -t : t, n.y >= 0.0 ? -t : t);
  return normalize(n);
}
`;

const SURFACE_VERTEX = `${VERTEX_HEAD}
out vec3 v_world, v_normal, v_colour;
out float v_gap;
void main() {
  vec4 world = u_model * vec4(a_position, 1.0);
  v_world = world.xyz;
  v_normal = normalize(mat3(u_model) * unfold(a_normal));
  v_gap = a_gap;
  v_colour = a_colour;
  gl_Position = u_view * world;
  gl_PointSize = max(u_point / gl_Position.w, 1.5);
}`;

const DEPTH_VERTEX = `${VERTEX_HEAD}
void main() {
  gl_Position = u_view * (u_model * vec4(a_position, 1.0));
  gl_PointSize = max(u_point / gl_Position.w, 1.0);
}`;

const ROUND = 'uniform bool u_cloud;\nbool outside() { vec2 c = gl_PointCoord - 0.5; return u_cloud && dot(c, c) > 0.25; }';

const DEPTH_FRAGMENT = `#version 300 es
precision highp float;
${ROUND}
uniform vec4 u_id;
out vec4 colour;
void main() { if (outside()) discard; colour = u_id; }`;

// Two lights a frame: a key light from a small disc, and one direction of the whole sky. Averaged over many frames
// this is soft shadow and true ambient occlusion; a frame alone (u_still = 0) has the sky without occlusion.
const LIGHT = `
precision highp sampler2DShadow;
uniform sampler2DShadow u_keyMap, u_skyMap;
uniform mat4 u_keyView, u_skyView;
uniform vec3 u_key, u_sky, u_eye, u_top, u_bottom, u_keyColour;
uniform float u_texel, u_still, u_frame;
// How much of a light reaches a point: nine looks at once, or one look a frame, elsewhere for every pixel and frame.
float dice(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
float look(sampler2DShadow map, vec3 s) {
  return any(greaterThan(abs(s - 0.5), vec3(0.5))) ? 1.0 : texture(map, s);
}
float open(sampler2DShadow map, mat4 view, vec3 world, vec3 normal, float facing, float blur) {
  vec3 s = (view * vec4(world + normal * u_texel * 2.0, 1.0)).xyz * 0.5 + 0.5;
  s.z -= 0.0003 + 0.0012 * (1.0 - facing);
  if (u_still > 0.5) {
    float turn = 6.2831853 * fract(dice(gl_FragCoord.xy) + u_frame * 0.8191725);
    float far = sqrt(fract(dice(gl_FragCoord.yx + 31.7) + u_frame * 0.6710436));
    return look(map, s + vec3(cos(turn), sin(turn), 0.0) * far * blur);
  }
  float sum = 0.0;
  for (int x = -1; x <= 1; x++) for (int y = -1; y <= 1; y++) sum += look(map, s + vec3(vec2(x, y) * blur, 0.0));
  return sum / 9.0;
}
vec3 radiance(vec3 w) { return mix(u_bottom, u_top, 0.5 + 0.5 * w.y); }
vec3 ambient(vec3 world, vec3 n, float blur) {
  if (u_still < 0.5) return 0.86 * mix(u_bottom, u_top, 0.5 + 0.3333 * n.y);
  float facing = max(dot(n, u_sky), 0.0);
  return 4.0 * radiance(u_sky) * facing * open(u_skyMap, u_skyView, world, n, facing, blur);
}
float keyLight(vec3 world, vec3 n) {
  float facing = max(dot(n, u_key), 0.0);
  return facing > 0.0 ? facing * open(u_keyMap, u_keyView, world, n, facing, 0.0014) : 0.0;
}
`;

const SURFACE_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_world, v_normal, v_colour;
in float v_gap;
${ROUND}
${LIGHT}
uniform vec3 u_albedo, u_clay;
uniform int u_mode;        // 0 the part's colour, 1 gaps, 2 colours of the scan
uniform float u_alpha;
out vec4 colour;
vec3 gapColour(float gap);
vec3 fromSrgb(vec3 c) { return mix(c / 12.92, pow((c + 0.055) / 1.055, vec3(2.4)), step(0.04045, c)); }
void main() {
  if (outside()) discard;
  vec3 n = normalize(v_normal);
  vec3 view = normalize(u_eye - v_world);
  if (dot(n, view) < 0.0 && !gl_FrontFacing) n = -n;
  vec3 albedo = u_mode == 1 ? gapColour((v_gap * 255.0 / 127.0 - 1.0) * 2.0) : u_mode == 2 ? fromSrgb(v_colour) : u_albedo;
  if (u_alpha < 1.0) {
    float rim = pow(1.0 - abs(dot(n, view)), 1.6);
    colour = vec4(albedo * 0.9, 1.0) * u_alpha * mix(0.1, 1.0, rim);
    return;
  }
  float key = keyLight(v_world, n);
  vec3 half_ = normalize(view + u_key);
  float shine = pow(max(dot(n, half_), 0.0), 38.0) * 0.22 * (key > 0.0 ? min(key * 4.0, 1.0) : 0.0);
  float graze = pow(1.0 - max(dot(n, view), 0.0), 4.0);
  vec3 sky = ambient(v_world, n, 0.004);
  vec3 lit = albedo * (sky + u_keyColour * key) + u_keyColour * shine + sky * graze * 0.16;
  colour = vec4(lit, 1.0);
}
`;

// Overlap red, touching bright, gap from green to violet: the same scale as in the gap maps.
function gapColourSource({ inside, apart }) {
  const ramp = (name, stops) => {
    const list = stops.map((hex) => `vec3(${linear(hex).map((c) => c.toFixed(4)).join(', ')})`);
    return `const vec3 ${name}[${stops.length}] = vec3[${stops.length}](${list.join(', ')});`;
  };
  return `${ramp('INSIDE', inside)}
${ramp('APART', apart)}
vec3 gapColour(float gap) {
  float t = clamp(abs(gap), 0.0, 1.0);
  vec3 c;
  if (gap < 0.0) { float x = t * ${inside.length - 1}.0; int k = min(int(x), ${inside.length - 2});
    c = mix(INSIDE[k], INSIDE[k + 1], x - float(k)); }
  else { float x = t * ${apart.length - 1}.0; int k = min(int(x), ${apart.length - 2});
    c = mix(APART[k], APART[k + 1], x - float(k)); }
  return mix(c, u_clay, smoothstep(0.9, 1.0, gap));
}
`;
}

const GROUND_VERTEX = `#version 300 es
precision highp float;
uniform mat4 u_view;
uniform vec3 u_centre;
uniform float u_radius;
out vec3 v_world;
void main() {
  vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
  v_world = u_centre + vec3(corner.x, 0.0, corner.y) * u_radius;
  gl_Position = u_view * vec4(v_world, 1.0);
}`;

const GROUND_FRAGMENT = `#version 300 es
precision highp float;
in vec3 v_world;
${LIGHT}
uniform vec3 u_centre;
uniform float u_radius, u_strength;
out vec4 colour;
void main() {
  vec3 up = vec3(0.0, 1.0, 0.0);
  float far = length(v_world - u_centre) / u_radius;
  float fade = 1.0 - smoothstep(0.35, 1.0, far);
  float key = open(u_keyMap, u_keyView, v_world, up, 1.0, 0.003);
  float full = dot(mix(u_bottom, u_top, 0.8333), vec3(0.3333));
  float sky = u_still < 0.5 ? 0.9 : dot(ambient(v_world, up, 0.03), vec3(0.3333)) / full;
  float light = mix(sky, key, 0.42);
  colour = vec4(0.0, 0.0, 0.0, (1.0 - light) * fade * u_strength);
}`;

const LINE_VERTEX = `#version 300 es
precision highp float;
layout(location = 0) in vec3 a_from;
layout(location = 1) in vec3 a_to;
layout(location = 2) in vec4 a_tint;
uniform mat4 u_view;
uniform vec2 u_size;
uniform float u_width;
out vec4 v_tint;
out vec2 v_at;
out float v_long;
void main() {
  vec4 a = u_view * vec4(a_from, 1.0), b = u_view * vec4(a_to, 1.0);
  vec2 pa = a.xy / a.w * u_size, pb = b.xy / b.w * u_size;
  vec2 way = pb - pa;
  v_long = length(way);
  vec2 along = v_long > 1e-4 ? way / v_long : vec2(1.0, 0.0);
  vec2 aside = vec2(-along.y, along.x);
  float end = float(gl_VertexID & 1), side = float(gl_VertexID >> 1) * 2.0 - 1.0;
  vec2 offset = aside * side * u_width * 2.2 + along * (end * 2.0 - 1.0) * u_width * 2.2;
  vec4 at = end < 0.5 ? a : b;
  gl_Position = vec4(at.xy + offset / u_size * at.w, at.z - 0.0015 * at.w, at.w);
  v_at = vec2(end * v_long + (end * 2.0 - 1.0) * u_width * 2.2, side * u_width * 2.2);
  v_tint = a_tint;
}`;

const LINE_FRAGMENT = `#version 300 es
precision highp float;
in vec4 v_tint;
in vec2 v_at;
in float v_long;
uniform float u_width;
out vec4 colour;
void main() {
  float ends = min(length(v_at), length(v_at - vec2(v_long, 0.0)));
  float line = max(abs(v_at.y), max(-v_at.x, v_at.x - v_long));
  float cover = max(1.0 - smoothstep(u_width * 1.7, u_width * 2.1, ends), 1.0 - smoothstep(u_width * 0.4, u_width, line));
  colour = vec4(v_tint.rgb, 1.0) * v_tint.a * cover;
}`;

const SCREEN_VERTEX = `#version 300 es
out vec2 v_uv;
void main() {
  v_uv = vec2((gl_VertexID << 1) & 2, gl_VertexID & 2);
  gl_Position = vec4(v_uv * 2.0 - 1.0, 0.0, 1.0);
}`;

const MEAN_FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_uv;
uniform sampler2D u_old, u_new;
uniform float u_share;
out vec4 colour;
void main() { colour = mix(texture(u_old, v_uv), texture(u_new, v_uv), u_share); }`;

const FINAL_FRAGMENT = `#version 300 es
precision highp float;
in vec2 v_uv;
uniform sampler2D u_quick, u_still, u_ids;
uniform float u_blend, u_quickScale, u_vignette, u_seam, u_ratio;
uniform vec4 u_hover, u_chosen;
uniform vec3 u_accent;
out vec4 colour;
bool same(vec4 a, vec4 b) { return distance(a.rgb, b.rgb) < 0.002; }
float rim(vec4 id, float radius) {
  vec2 pixel = 1.0 / vec2(textureSize(u_ids, 0));
  float inside = 0.0;
  for (int k = 0; k < 12; k++) {
    float t = float(k) * 0.5236;
    inside += same(texture(u_ids, v_uv + vec2(cos(t), sin(t)) * pixel * radius), id) ? 1.0 : 0.0;
  }
  float f = inside / 12.0;
  return smoothstep(0.1, 0.9, 4.0 * f * (1.0 - f));
}
float seam() {
  vec2 pixel = 1.0 / vec2(textureSize(u_ids, 0));
  vec4 here = texture(u_ids, v_uv);
  if (here.a == 0.0) return 0.0;
  float other = 0.0;
  for (int k = 0; k < 8; k++) {
    float t = float(k) * 0.7854 + 0.3;
    vec4 id = texture(u_ids, v_uv + vec2(cos(t), sin(t)) * pixel * u_ratio * 0.8);
    other += id.a > 0.0 && !same(id, here) ? 1.0 : 0.0;
  }
  return smoothstep(0.0, 0.6, other / 8.0);
}
vec3 toSrgb(vec3 c) { return mix(c * 12.92, 1.055 * pow(max(c, 1e-5), vec3(1.0 / 2.4)) - 0.055, step(0.0031308, c)); }
float noise(vec2 p) { return fract(52.9829189 * fract(dot(p, vec2(0.06711056, 0.00583715)))); }
void main() {
  vec3 c = mix(texture(u_quick, v_uv * u_quickScale).rgb, texture(u_still, v_uv).rgb, u_blend);
  vec2 d = v_uv - vec2(0.5, 0.55);
  c *= 1.0 - u_vignette * smoothstep(0.1, 0.9, dot(d, d) * 1.6);
  c = mix(c, 0.8 + 0.2 * (1.0 - exp((0.8 - c) / 0.2)), step(0.8, c));
  if (u_seam > 0.0) c *= 1.0 - u_seam * seam();
  vec3 s = toSrgb(clamp(c, 0.0, 1.0));
  if (u_chosen.a > 0.0) s = mix(s, u_accent, rim(u_chosen, 2.0 * u_ratio));
  if (u_hover.a > 0.0) s = mix(s, u_accent, 0.85 * rim(u_hover, 1.6 * u_ratio));
  colour = vec4(s + (noise(gl_FragCoord.xy) - 0.5) / 255.0, 1.0);
}`;
