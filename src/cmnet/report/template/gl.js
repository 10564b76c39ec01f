// Small things on top of WebGL 2.
function makeProgram(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost()) {
      throw new Error(`shader: ${gl.getShaderInfoLog(shader)}`);
    }
  }
  gl.linkProgram(program);
  const uniforms = {};
  const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS) || 0;
  for (let k = 0; k < count; k++) {
    const info = gl.getActiveUniform(program, k);
    uniforms[info.name] = { at: gl.getUniformLocation(program, info.name), type: info.type };
  }
  return { program, uniforms };
}

function setUniforms(gl, { uniforms }, values) {
  for (const [name, value] of Object.entries(values)) {
    const uniform = uniforms[name];
    if (!uniform) continue;
    if (uniform.type === gl.FLOAT) gl.uniform1f(uniform.at, value);
    else if (uniform.type === gl.FLOAT_VEC2) gl.uniform2fv(uniform.at, value);
    else if (uniform.type === gl.FLOAT_VEC3) gl.uniform3fv(uniform.at, value);
    else if (uniform.type === gl.FLOAT_VEC4) gl.uniform4fv(uniform.at, value);
    else if (uniform.type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(uniform.at, false, value);
    else gl.uniform1i(uniform.at, value);
  }
}

function makeTexture(gl, width, height, format, filter = gl.LINEAR) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, width, height);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
  return texture;
}

// A texture to draw into, with or without depth; `free` gives the memory back.
function makeTarget(gl, width, height, format, { depth = true, filter = gl.LINEAR } = {}) {
  const framebuffer = gl.createFramebuffer();
  const texture = makeTexture(gl, width, height, format, filter);
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  const buffers = [];
  if (depth) buffers.push(attachBuffer(gl, gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24, width, height, 0));
  const free = () => {
    gl.deleteFramebuffer(framebuffer);
    gl.deleteTexture(texture);
    buffers.forEach((buffer) => gl.deleteRenderbuffer(buffer));
  };
  return { framebuffer, texture, width, height, free };
}

// The same with several samples a pixel; it has no texture and is copied from.
function makeSmoothTarget(gl, width, height, format, samples) {
  const framebuffer = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  const buffers = [
    attachBuffer(gl, gl.COLOR_ATTACHMENT0, format, width, height, samples),
    attachBuffer(gl, gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24, width, height, samples),
  ];
  const free = () => {
    gl.deleteFramebuffer(framebuffer);
    buffers.forEach((buffer) => gl.deleteRenderbuffer(buffer));
  };
  return { framebuffer, width, height, free };
}

function attachBuffer(gl, attachment, format, width, height, samples) {
  const buffer = gl.createRenderbuffer();
  gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
  gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
  gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
  return buffer;
}

function makeShadowMap(gl, size) {
  const framebuffer = gl.createFramebuffer();
  const texture = makeTexture(gl, size, size, gl.DEPTH_COMPONENT24);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
  gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.drawBuffers([gl.NONE]);
  return { framebuffer, texture, size };
}

function makeBuffer(gl, data, target = gl.ARRAY_BUFFER, usage = gl.STATIC_DRAW) {
  const buffer = gl.createBuffer();
  gl.bindBuffer(target, buffer);
  gl.bufferData(target, data, usage);
  return buffer;
}

// The vertex arrays of one part, from the block of numbers.
function makeShape(gl, part, numbers) {
  const view = (Kind, [start, count]) => new Kind(numbers, start, count);
  const vao = gl.createVertexArray();
  gl.bindVertexArray(vao);
  makeBuffer(gl, view(Uint16Array, part.positions));
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.UNSIGNED_SHORT, true, 0, 0);
  makeBuffer(gl, view(Int16Array, part.normals));
  gl.enableVertexAttribArray(1);
  gl.vertexAttribPointer(1, 2, gl.SHORT, true, 0, 0);
  const gaps = view(Uint8Array, part.gaps);
  const gapBuffer = makeBuffer(gl, gaps, gl.ARRAY_BUFFER, gl.DYNAMIC_DRAW);
  gl.enableVertexAttribArray(2);
  gl.vertexAttribPointer(2, 1, gl.UNSIGNED_BYTE, true, 0, 0);
  if (part.colours) {
    makeBuffer(gl, view(Uint8Array, part.colours));
    gl.enableVertexAttribArray(3);
    gl.vertexAttribPointer(3, 3, gl.UNSIGNED_BYTE, true, 0, 0);
  }
  const cloud = part.faces === undefined;
  if (!cloud) makeBuffer(gl, view(part.wide ? Uint32Array : Uint16Array, part.faces), gl.ELEMENT_ARRAY_BUFFER);
  gl.bindVertexArray(null);
  const count = cloud ? part.positions[1] / 3 : part.faces[1];
  const draw = () => {
    gl.bindVertexArray(vao);
    if (cloud) gl.drawArrays(gl.POINTS, 0, count);
    else gl.drawElements(gl.TRIANGLES, count, part.wide ? gl.UNSIGNED_INT : gl.UNSIGNED_SHORT, 0);
  };
  const setGaps = (bytes) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, gapBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, bytes || gaps);
  };
  return { draw, setGaps, cloud };
}
