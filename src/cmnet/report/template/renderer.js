// Draws the scene: at once while anything moves, then better and better while it rests.
const STILL_FRAMES = 96; // of a picture at rest, each with other light directions and another shift within the pixel
const FEWEST = 32; // of them will do
const PATIENCE = 3000; // after so many milliseconds
// Without a graphics card everything is drawn by the processor: fewer frames, smaller maps. #fine in the address
// asks for all the same.
const SOFTWARE = /swiftshader|llvmpipe|software|basic render/i;
const QUALITY = {
  card: { frames: STILL_FRAMES, keyMap: 2048, skyMap: 1024, samples: 4, coarse: 1, paper: [900, 720, 32] },
  processor: { frames: 10, keyMap: 1024, skyMap: 512, samples: 0, coarse: 0.6, paper: [600, 480, 6] },
};
const SLOW = 45; // milliseconds a frame from which moving pictures are drawn coarser
const FIELD_OF_VIEW = 0.5;
const SPLAT = 2.3; // width of a cloud's points, in distances between them

class Renderer {
  constructor(canvas, numbers) {
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, preserveDrawingBuffer: true });
    if (!gl) throw new Error('WebGL 2 is not available');
    const info = gl.getExtension('WEBGL_debug_renderer_info');
    const soft = info && SOFTWARE.test(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) && location.hash !== '#fine';
    this.quality = soft ? QUALITY.processor : QUALITY.card;
    Object.assign(this, { canvas, gl, width: 0, height: 0, coarse: this.quality.coarse, cost: 0 });
    const half = gl.getExtension('EXT_color_buffer_float') || gl.getExtension('EXT_color_buffer_half_float');
    this.full = Boolean(gl.getExtension('EXT_color_buffer_float'));
    this.format = half ? gl.RGBA16F : gl.SRGB8_ALPHA8;
    this.frames = half ? this.quality.frames : 12;
    const possible = gl.getInternalformatParameter(gl.RENDERBUFFER, this.format, gl.SAMPLES);
    this.samples = Math.max(0, ...[...possible].filter((n) => n <= this.quality.samples));
    this.programs = {
      surface: makeProgram(gl, SURFACE_VERTEX, SURFACE_FRAGMENT + gapColourSource(facts.gapColours)),
      depth: makeProgram(gl, DEPTH_VERTEX, DEPTH_FRAGMENT),
      ground: makeProgram(gl, GROUND_VERTEX, GROUND_FRAGMENT),
      line: makeProgram(gl, LINE_VERTEX, LINE_FRAGMENT),
      mean: makeProgram(gl, SCREEN_VERTEX, MEAN_FRAGMENT),
      final: makeProgram(gl, SCREEN_VERTEX, FINAL_FRAGMENT),
    };
    this.keyMap = makeShadowMap(gl, this.quality.keyMap);
    this.skyMap = makeShadowMap(gl, this.quality.skyMap);
    this.shapes = facts.parts.map((part) => makeShape(gl, part, numbers));
    this.lineBuffer = gl.createBuffer();
    this.lineArray = this.makeLineArray();
    this.empty = gl.createVertexArray();
    this.count = 0;
  }

  makeLineArray() {
    const { gl } = this;
    const vao = gl.createVertexArray();
    gl.bindVertexArray(vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    [[0, 3, 0], [1, 3, 12], [2, 4, 24]].forEach(([at, size, offset]) => {
      gl.enableVertexAttribArray(at);
      gl.vertexAttribPointer(at, size, gl.FLOAT, false, 40, offset);
      gl.vertexAttribDivisor(at, 1);
    });
    return vao;
  }

  resize(width, height) {
    if (width === this.width && height === this.height) return false;
    const { gl } = this;
    Object.assign(this, { width, height });
    this.canvas.width = width;
    this.canvas.height = height;
    (this.targets || []).forEach((target) => target.free());
    this.smoothTarget = this.samples > 1 ? makeSmoothTarget(gl, width, height, this.format, this.samples) : null;
    this.quick = makeTarget(gl, width, height, this.format);
    this.frame = makeTarget(gl, width, height, this.format, { filter: gl.NEAREST });
    const fine = this.full ? gl.RGBA32F : this.format;
    this.means = [0, 1].map(() => makeTarget(gl, width, height, fine, { depth: false, filter: gl.NEAREST }));
    this.ids = makeTarget(gl, width, height, gl.RGBA8, { filter: gl.NEAREST });
    this.targets = [this.smoothTarget, this.quick, this.frame, ...this.means, this.ids].filter(Boolean);
    this.restart();
    return true;
  }

  restart() {
    this.count = 0;
    this.idsFresh = false;
  }

  get rested() {
    return this.count >= this.frames || (this.count >= FEWEST && performance.now() - this.began > PATIENCE);
  }

  // One picture of something that moves.
  drawMoving(scene) {
    const { gl } = this;
    this.restart();
    const light = this.lightOf(scene, 0, false);
    this.drawShadow(this.keyMap, light.keyView, scene);
    const size = [Math.round(this.width * this.coarse), Math.round(this.height * this.coarse)];
    const into = this.smoothTarget || this.quick;
    this.drawScene(into, size, scene, light, scene.camera.view(size[0] / size[1], [0, 0]));
    if (this.smoothTarget) {
      gl.bindFramebuffer(gl.READ_FRAMEBUFFER, this.smoothTarget.framebuffer);
      gl.bindFramebuffer(gl.DRAW_FRAMEBUFFER, this.quick.framebuffer);
      gl.blitFramebuffer(0, 0, ...size, 0, 0, ...size, gl.COLOR_BUFFER_BIT, gl.NEAREST);
    }
    this.present(scene);
  }

  // A slow machine gets coarser moving pictures; pictures at rest always have full size.
  watch(milliseconds) {
    this.cost = mix(this.cost, milliseconds, 0.3);
    if (this.cost > SLOW) this.coarse = Math.max(0.4, this.coarse * 0.85);
    else if (this.cost < SLOW / 2) this.coarse = Math.min(1, this.coarse * 1.1);
  }

  // The rest of a picture at rest, at once.
  finish(scene, frames = this.frames) {
    while (this.count < frames) this.drawStill(scene, false);
    this.present(scene);
  }

  // One more frame of a picture at rest, averaged with those before.
  drawStill(scene, present = true) {
    const { gl } = this;
    const k = this.count;
    if (k === 0) this.began = performance.now();
    const light = this.lightOf(scene, k, true);
    this.drawShadow(this.keyMap, light.keyView, scene);
    this.drawShadow(this.skyMap, light.skyView, scene);
    const jitter = [(k * 0.7548776662) % 1 - 0.5, (k * 0.5698402910) % 1 - 0.5];
    const view = scene.camera.view(this.width / this.height, [2 * jitter[0] / this.width, 2 * jitter[1] / this.height]);
    this.drawScene(this.frame, [this.width, this.height], scene, light, view);
    const [old, fresh] = [this.means[k % 2], this.means[(k + 1) % 2]];
    gl.bindFramebuffer(gl.FRAMEBUFFER, fresh.framebuffer);
    gl.viewport(0, 0, this.width, this.height);
    gl.disable(gl.BLEND);
    gl.disable(gl.DEPTH_TEST);
    this.screen(this.programs.mean, { u_old: [old, 0], u_new: [this.frame, 1] }, { u_share: 1 / (k + 1) });
    this.count += 1;
    if (present && (this.count < 8 || this.count % 4 === 0 || this.rested)) this.present(scene);
  }

  lightOf(scene, k, still) {
    const { centre, radius } = scene.bounds;
    const key = scene.camera.keyLight(still ? [(k * 0.7548776662) % 1, (k * 0.5698402910 + 0.5) % 1] : [0.5, 0]);
    const z = 1 - 2 * ((k * 0.7548776662 + 0.25) % 1);
    const turn = 2 * Math.PI * ((k * 0.5698402910 + 0.25) % 1);
    const ring = Math.sqrt(1 - z * z);
    const sky = [ring * Math.cos(turn), z, ring * Math.sin(turn)];
    const from = (direction) => {
      const [x, y] = beside(direction);
      return multiply(orthographic(radius * 1.02), lookFrom(centre, x, y, direction));
    };
    const look = scene.look;
    return {
      keyView: from(key), skyView: from(sky),
      uniforms: {
        u_key: key, u_sky: sky, u_keyView: from(key), u_skyView: from(sky), u_eye: scene.camera.eye,
        u_top: look.top, u_bottom: look.bottom, u_keyColour: look.key,
        u_texel: 2 * radius / this.quality.skyMap, u_still: still ? 1 : 0, u_frame: k, u_keyMap: 4, u_skyMap: 5,
      },
    };
  }

  drawShadow(map, view, scene) {
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, map.framebuffer);
    gl.viewport(0, 0, map.size, map.size);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.clear(gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.POLYGON_OFFSET_FILL);
    gl.polygonOffset(2, 2);
    this.drawPlain(scene, view, map.size / scene.bounds.radius / 2, () => [0, 0, 0, 1]);
    gl.disable(gl.POLYGON_OFFSET_FILL);
  }

  // Every solid part in one flat colour: shadows and numbers for picking. pixels : of one length unit at distance one
  drawPlain(scene, view, pixels, colour) {
    const { gl } = this;
    const program = this.programs.depth;
    gl.useProgram(program.program);
    setUniforms(gl, program, { u_view: view });
    scene.bodies.forEach((body, k) => {
      if (body.alpha < 1) return;
      const shape = this.shapes[k];
      const point = shape.cloud ? facts.parts[k].spacing * pixels * SPLAT : 1;
      setUniforms(gl, program, { u_model: body.matrix, u_cloud: shape.cloud, u_point: point, u_id: colour(k) });
      shape.draw();
    });
  }

  drawScene(target, [width, height], scene, light, view) {
    const { gl } = this;
    [[this.keyMap, 4], [this.skyMap, 5]].forEach(([map, slot]) => {
      gl.activeTexture(gl.TEXTURE0 + slot);
      gl.bindTexture(gl.TEXTURE_2D, map.texture);
    });
    gl.bindFramebuffer(gl.FRAMEBUFFER, target.framebuffer);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.clearColor(...scene.look.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    this.drawBodies(scene, light, view, height, false);
    gl.enable(gl.BLEND);
    gl.depthMask(false);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    if (scene.ground.strength > 0) this.drawGround(scene, light, view);
    this.drawBodies(scene, light, view, height, true);
    if (scene.lines.length) this.drawLines(scene.lines, view, [width, height]);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
  }

  drawBodies(scene, light, view, height, ghosts) {
    const { gl } = this;
    const program = this.programs.surface;
    gl.useProgram(program.program);
    setUniforms(gl, program, { ...light.uniforms, u_view: view, u_clay: linear(facts.gapColours.nothing) });
    scene.bodies.forEach((body, k) => {
      if (body.alpha < 0.01 || body.alpha < 1 !== ghosts) return;
      const shape = this.shapes[k];
      const point = shape.cloud ? facts.parts[k].spacing * SPLAT * height / Math.tan(FIELD_OF_VIEW / 2) / 2 : 1;
      setUniforms(gl, program, {
        u_model: body.matrix, u_albedo: body.albedo, u_alpha: body.alpha, u_mode: body.mode,
        u_cloud: shape.cloud, u_point: point,
      });
      shape.draw();
    });
  }

  drawGround(scene, light, view) {
    const { gl } = this;
    const program = this.programs.ground;
    gl.useProgram(program.program);
    setUniforms(gl, program, {
      ...light.uniforms, u_view: view, u_centre: scene.ground.centre, u_radius: scene.ground.radius,
      u_strength: scene.ground.strength,
    });
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
  }

  drawLines(lines, view, size) {
    const { gl } = this;
    const program = this.programs.line;
    gl.useProgram(program.program);
    setUniforms(gl, program, { u_view: view, u_size: size.map((s) => s / 2), u_width: 0.0011 * size[1] + 0.4 });
    gl.bindVertexArray(this.lineArray);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lineBuffer);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(lines.flat()), gl.DYNAMIC_DRAW);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, lines.length);
  }

  screen(program, textures, values) {
    const { gl } = this;
    gl.useProgram(program.program);
    const slots = {};
    for (const [name, [target, slot]] of Object.entries(textures)) {
      gl.activeTexture(gl.TEXTURE0 + slot);
      gl.bindTexture(gl.TEXTURE_2D, target.texture);
      slots[name] = slot;
    }
    setUniforms(gl, program, { ...slots, ...values });
    gl.bindVertexArray(this.empty);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  // From light to the colours of the screen, with outlines.
  present(scene) {
    const { gl } = this;
    const blend = smooth(this.count / Math.min(20, this.frames));
    const numbered = blend > 0 || scene.hovered >= 0 || scene.chosen >= 0;
    if (numbered) this.drawIds(scene);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, this.width, this.height);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.BLEND);
    this.screen(
      this.programs.final,
      { u_quick: [this.quick, 0], u_still: [this.means[this.count % 2], 1], u_ids: [this.ids, 2] },
      {
        u_blend: blend, u_quickScale: this.coarse, u_vignette: scene.look.vignette, u_accent: scene.look.accent,
        u_seam: numbered ? 0.35 * blend : 0, u_ratio: scene.ratio,
        u_hover: this.idColour(scene.hovered), u_chosen: this.idColour(scene.chosen),
      },
    );
  }

  idColour(k) { return k < 0 ? [0, 0, 0, 0] : [((k + 1) & 255) / 255, ((k + 1) >> 8) / 255, 0.5, 1]; }

  drawIds(scene) {
    if (this.idsFresh) return;
    const { gl } = this;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.ids.framebuffer);
    gl.viewport(0, 0, this.width, this.height);
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    gl.disable(gl.BLEND);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const view = scene.camera.view(this.width / this.height, [0, 0]);
    this.drawPlain(scene, view, this.height / Math.tan(FIELD_OF_VIEW / 2) / 2, (k) => this.idColour(k));
    this.idsFresh = true;
  }

  // The part under a pixel counted from the top left; −1 where there is none.
  pick(scene, x, y) {
    const { gl } = this;
    this.drawIds(scene);
    const pixel = new Uint8Array(4);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.ids.framebuffer);
    gl.readPixels(Math.round(x), this.height - 1 - Math.round(y), 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
    return pixel[3] === 0 ? -1 : pixel[0] + 256 * pixel[1] - 1;
  }
}
