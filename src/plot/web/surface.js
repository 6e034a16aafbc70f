'use strict';
// A surface as a map of colours or in 3D (WebGL 2), with axes, a profile along a line and the height at a click.
// Frames: meta {w, h, step, low, high, unit, dx, dy}, values 0 to 65534 between low and high, 65535 where there is
// none; every step-th pixel of every step-th row is there, w by h of them; dx and dy: metres between columns and rows
// of the whole frame, 0 where nobody knows.
function showSurface(box) {
  const part = name => box.querySelector(`[data-part=${name}]`),
        tool = name => box.querySelector(`[data-tool=${name}]`);
  const map = part('map'), over = part('over'), plot = part('profile'), told = part('told');
  const gl = map.getContext('webgl2', {antialias: true});
  const MARGIN = {left: 64, right: 96, top: 12, bottom: 42}, HOLE = 65535;
  const PALETTES = {
    viridis: [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]],
    grey: [[0, 0, 0], [255, 255, 255]],
    diverging: [[33, 102, 172], [146, 197, 222], [247, 247, 247], [244, 165, 130], [178, 24, 43]]
  };
  let meta = null, values = null, line = null, spot = null, asked = false, turned = [.7, .55], zoom = 1;
  let range = null;  // of colours, while it is not automatic

  // ---- numbers ----
  const PREFIXES = [[1e3, 'k'], [1, ''], [1e-3, 'm'], [1e-6, 'µ'], [1e-9, 'n'], [1e-12, 'p']];
  function prefixFor(size, unit) {
    if (unit !== 'm') return [1, unit];
    const found = PREFIXES.find(([f, p]) => p !== 'k' && size >= f * .9999) || (size > 0 ? [1e-12, 'p'] : [1, '']);
    return [found[0], found[1] + unit];
  }
  function si(value, unit, digits = 4) {
    if (!Number.isFinite(value)) return '–';
    const [f, u] = prefixFor(Math.abs(value), unit);
    return `${+ (value / f).toPrecision(digits)} ${u}`.replace('-', '−');
  }
  function ticks(low, high, most) {
    const span = high - low, power = 10 ** Math.floor(Math.log10(span / most));
    const step = [1, 2, 5, 10].map(n => n * power).find(s => span / s <= most) || 10 * power, list = [];
    if (!(span > 0)) return [low];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; ++k) list.push(k * step);
    return list;
  }
  const plain = v => String(+v.toPrecision(6)).replace('-', '−');
  const style = name => getComputedStyle(box).getPropertyValue(name).trim();
  const heightAt = (x, y) => {
    const v = x >= 0 && y >= 0 && x < meta.w && y < meta.h ? values[y * meta.w + x] : HOLE;
    return v === HOLE ? NaN : meta.low + v / 65534 * (meta.high - meta.low);
  };
  function lateral() {  // between the pixels that are here
    const {step} = meta;
    return meta.dx > 0 ? {dx: step * meta.dx, dy: step * (meta.dy || meta.dx), unit: 'm'} :
                         {dx: step, dy: step, unit: 'px'};
  }

  // ---- WebGL ----
  const HEAD = `#version 300 es
precision highp float; precision highp int; precision highp usampler2D;
uniform usampler2D heights; uniform sampler2D palette; uniform vec2 range; uniform vec3 ground;
vec4 colour(uint v, float light) {
  if (v == ${HOLE}u) return vec4(ground, 1.);
  float f = clamp((float(v) / 65534. - range.x) / max(range.y - range.x, 1e-9), 0., 1.);
  return vec4(texture(palette, vec2((f * 255. + .5) / 256., .5)).rgb * light, 1.);
}
`;
  const FLAT = [
    HEAD + `out vec2 at; void main() { at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
gl_Position = vec4(at * 2. - 1., 0., 1.); }`,
    HEAD + `in vec2 at; out vec4 to; void main() { ivec2 n = textureSize(heights, 0);
to = colour(texelFetch(heights, clamp(ivec2(vec2(at.x, 1. - at.y) * vec2(n)), ivec2(0), n - 1), 0).r, 1.); }`
  ];
  const SOLID = [
    HEAD + `uniform mat3 turn; uniform vec3 extent; uniform vec2 aspect;
in vec2 corner; out float place; out float light; out float hole;
float heightAt(vec2 c) { ivec2 n = textureSize(heights, 0);
float v = float(texelFetch(heights, clamp(ivec2(c * vec2(n - 1) + .5), ivec2(0), n - 1), 0).r);
if (v > 65534.5) hole = 1.;
return clamp((v / 65534. - range.x) / max(range.y - range.x, 1e-9), -.25, 1.25); }
void main() { vec2 e = vec2(1. / 255.); hole = 0.; place = heightAt(corner);
float dx = heightAt(corner + vec2(e.x, 0.)) - heightAt(corner - vec2(e.x, 0.));
float dy = heightAt(corner + vec2(0., e.y)) - heightAt(corner - vec2(0., e.y));
vec3 n = normalize(vec3(-dx * extent.z / (2. * e.x * extent.x), dy * extent.z / (2. * e.y * extent.y), 1.));
light = .5 + .5 * max(0., dot(n, normalize(vec3(-.5, .5, .7))));
vec3 q = turn * (vec3(corner.x - .5, .5 - corner.y, place - .5) * extent);
gl_Position = vec4(q.xy * aspect, -q.z * .2, 1.); }`,
    HEAD + `in float place; in float light; in float hole; out vec4 to;
void main() { if (hole > .01) discard;
to = vec4(texture(palette, vec2((clamp(place, 0., 1.) * 255. + .5) / 256., .5)).rgb * light, 1.); }`
  ];
  function program(sources) {
    const p = gl.createProgram();
    sources.forEach((text, k) => {
      const s = gl.createShader(k ? gl.FRAGMENT_SHADER : gl.VERTEX_SHADER);
      gl.shaderSource(s, text);
      gl.compileShader(s);
      if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
      gl.attachShader(p, s);
    });
    gl.bindAttribLocation(p, 0, 'corner');
    gl.linkProgram(p);
    if (!gl.getProgramParameter(p, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(p));
    return {p, at: name => gl.getUniformLocation(p, name)};
  }
  let flat, solid, heights, palette, held = '';
  function begin() {
    flat = program(FLAT);
    solid = program(SOLID);
    heights = gl.createTexture();
    palette = gl.createTexture();
    for (const t of [heights, palette]) {
      gl.bindTexture(gl.TEXTURE_2D, t);
      for (const n of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, n, gl.NEAREST);
      for (const n of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, n, gl.CLAMP_TO_EDGE);
    }
    mesh(256);
    held = '';
  }
  // Corners of a grid and the triangles between them; a map draws the first four without.
  let plainly, meshed, corners;
  function mesh(n) {
    const at = new Float32Array(2 * n * n), list = new Uint32Array(6 * (n - 1) * (n - 1));
    for (let k = 0; k < n * n; ++k) at.set([k % n / (n - 1), Math.floor(k / n) / (n - 1)], 2 * k);
    for (let j = 0, k = 0; j < n - 1; ++j)
      for (let i = 0; i < n - 1; ++i, k += 6) {
        const a = j * n + i;
        list.set([a, a + 1, a + n, a + 1, a + n + 1, a + n], k);
      }
    plainly = gl.createVertexArray();
    meshed = gl.createVertexArray();
    gl.bindVertexArray(meshed);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, at, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list, gl.STATIC_DRAW);
    corners = list.length;
  }
  function stop(name, f) {
    const stops = PALETTES[name], at = f * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
    return stops[k].map((a, d) => Math.round(a + (at - k) * (stops[k + 1][d] - a)));
  }
  function usePalette() {
    const name = tool('palette').value;
    if (held === name) return;
    held = name;
    const bytes = new Uint8Array(1024);
    for (let k = 0; k < 256; ++k) bytes.set([...stop(name, k / 255), 255], 4 * k);
    gl.bindTexture(gl.TEXTURE_2D, palette);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
  }
  function matrix() {  // columns of the rotation: about z, then towards the reader
    const [a, b] = turned, c = Math.cos(a), s = Math.sin(a), d = Math.cos(b), t = Math.sin(b);
    return [c, s * t, -s * d, -s, c * t, -c * d, 0, d, t];
  }
  const shown = () => range || [meta.low, meta.high];
  function paint() {
    const isSolid = tool('kind').value === '3d', use = isSolid ? solid : flat, span = meta.high - meta.low || 1;
    const [low, high] = shown();
    usePalette();
    gl.viewport(0, 0, map.width, map.height);
    const ground = style('--hole').split(',').map(v => v / 255);
    const behind = isSolid ? style('--back').split(',').map(v => v / 255) : ground;
    gl.clearColor(...behind, 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(use.p);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindTexture(gl.TEXTURE_2D, heights);
    gl.activeTexture(gl.TEXTURE1);
    gl.bindTexture(gl.TEXTURE_2D, palette);
    gl.activeTexture(gl.TEXTURE0);
    gl.uniform1i(use.at('heights'), 0);
    gl.uniform1i(use.at('palette'), 1);
    gl.uniform2f(use.at('range'), (low - meta.low) / span, (high - meta.low) / span);
    gl.uniform3f(use.at('ground'), ...ground);
    if (!isSolid) {
      gl.disable(gl.DEPTH_TEST);
      gl.bindVertexArray(plainly);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
      return;
    }
    const {dx, dy} = lateral(), wide = meta.w * dx, tall = meta.h * dy, most = Math.max(wide, tall);
    const ratio = map.width / map.height;
    gl.enable(gl.DEPTH_TEST);
    gl.bindVertexArray(meshed);
    gl.uniformMatrix3fv(use.at('turn'), false, matrix());
    gl.uniform3f(use.at('extent'), wide / most, tall / most, .3);
    gl.uniform2f(use.at('aspect'), 1.3 * zoom / Math.max(1, ratio), 1.3 * zoom * Math.min(1, ratio));
    gl.drawElements(gl.TRIANGLES, corners, gl.UNSIGNED_INT, 0);
  }

  // ---- axes, colour bar, line ----
  function sized(canvas) {
    const fine = Math.min(2, window.devicePixelRatio || 1), w = Math.round(canvas.clientWidth * fine),
          h = Math.round(canvas.clientHeight * fine), g = canvas.getContext('2d');
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    g.setTransform(fine, 0, 0, fine, 0, 0);
    g.clearRect(0, 0, w, h);
    g.font = '12px system-ui, sans-serif';
    g.fillStyle = style('--ink');
    g.strokeStyle = style('--soft');
    g.lineWidth = 1;
    return g;
  }
  function drawBar(g, x, top, h) {
    const [low, high] = shown(), size = Math.max(Math.abs(low), Math.abs(high));
    const [f, u] = prefixFor(size, meta.unit), name = tool('palette').value;
    for (let k = 0; k < h; ++k) {
      g.fillStyle = `rgb(${stop(name, 1 - k / h)})`;
      g.fillRect(x, top + k, 14, 1.5);
    }
    g.fillStyle = style('--ink');
    g.textAlign = 'left';
    g.textBaseline = 'middle';
    for (const t of ticks(low / f, high / f, 7))
      g.fillText(plain(t), x + 19, top + h * (1 - (t - low / f) / ((high - low) / f || 1)));
    g.textBaseline = 'alphabetic';
    g.fillText(u, x, top + h + 18);
  }
  function drawOver() {
    const g = sized(over), w = map.clientWidth, h = map.clientHeight, {left, top} = MARGIN;
    drawBar(g, left + w + 14, top, h);
    if (tool('kind').value === '3d') {
      g.fillText('drag to rotate, wheel to zoom', left, top + h + 30);
      return;
    }
    const {dx, dy, unit} = lateral(), wide = meta.w * dx, tall = meta.h * dy;
    const [f, u] = prefixFor(Math.max(wide, tall) / 2, unit);
    g.textAlign = 'center';
    for (const t of ticks(0, wide / f, Math.max(2, w / 70))) {
      const x = left + t * f / wide * w;
      g.fillRect(x, top + h, 1, 5);
      g.fillText(plain(t), x, top + h + 18);
    }
    g.fillText(`x (${u})`, left + w / 2, top + h + 36);
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const t of ticks(0, tall / f, Math.max(2, h / 50))) {
      const y = top + t * f / tall * h;
      g.fillRect(left - 5, y, 5, 1);
      g.fillText(plain(t), left - 9, y);
    }
    g.save();
    g.translate(12, top + h / 2);
    g.rotate(-Math.PI / 2);
    g.textAlign = 'center';
    g.fillText(`y (${u})`, 0, 0);
    g.restore();
    g.textBaseline = 'alphabetic';
    const put = p => [left + (p[0] + .5) / meta.w * w, top + (p[1] + .5) / meta.h * h];
    g.strokeStyle = '#fff';
    for (const wide of [3, 1.2]) {
      g.lineWidth = wide;
      g.beginPath();
      g.moveTo(...put(line[0]));
      g.lineTo(...put(line[1]));
      if (spot) g.arc(...put(spot), 5, 0, 7);
      g.stroke();
      g.strokeStyle = '#d1242f';
    }
  }

  // ---- the profile ----
  function drawProfile() {
    const g = sized(plot), w = plot.clientWidth - MARGIN.left - 16, h = plot.clientHeight - 46;
    const {dx, dy, unit} = lateral(), [a, b] = line;
    const length = Math.hypot((b[0] - a[0]) * dx, (b[1] - a[1]) * dy), n = Math.max(2, Math.round(w)), z = [];
    for (let k = 0; k < n; ++k) {
      const f = k / (n - 1);
      z.push(heightAt(Math.round(a[0] + f * (b[0] - a[0])), Math.round(a[1] + f * (b[1] - a[1]))));
    }
    const good = z.filter(Number.isFinite);
    if (!good.length || !(length > 0)) return;
    let low = Math.min(...good), high = Math.max(...good);
    if (low === high) [low, high] = [low - (Math.abs(low) || 1) * .1, high + (Math.abs(high) || 1) * .1];
    const [fz, uz] = prefixFor(Math.max(Math.abs(low), Math.abs(high)), meta.unit), [fx, ux] = prefixFor(length, unit);
    const y = v => 8 + h * (1 - (v - low) / (high - low)), x = k => MARGIN.left + k / (n - 1) * w;
    g.textAlign = 'right';
    g.textBaseline = 'middle';
    for (const t of ticks(low / fz, high / fz, 4)) {
      g.fillStyle = style('--line');
      g.fillRect(MARGIN.left, y(t * fz), w, 1);
      g.fillStyle = style('--ink');
      g.fillText(plain(t), MARGIN.left - 8, y(t * fz));
    }
    g.textAlign = 'center';
    g.textBaseline = 'alphabetic';
    for (const t of ticks(0, length / fx, Math.max(2, w / 80)))
      g.fillText(plain(t), MARGIN.left + t * fx / length * w, h + 24);
    g.fillText(`along the line (${ux})`, MARGIN.left + w / 2, h + 40);
    g.save();
    g.translate(12, 8 + h / 2);
    g.rotate(-Math.PI / 2);
    g.fillText(`${meta.unit === 'm' ? 'height' : 'phase'} (${uz})`, 0, 0);
    g.restore();
    g.strokeStyle = style('--c0');
    g.lineWidth = 1.5;
    g.beginPath();
    let pen = false;
    z.forEach((v, k) => {
      if (Number.isFinite(v)) g[pen ? 'lineTo' : 'moveTo'](x(k), y(v));
      pen = Number.isFinite(v);
    });
    g.stroke();
    part('span').textContent =
        `profile: PV ${si(Math.max(...good) - Math.min(...good), meta.unit)} over ${si(length, unit)}`;
  }

  // ---- layout and drawing ----
  function layout() {
    const {dx, dy} = lateral(), frame = part('frame'), w = frame.clientWidth - MARGIN.left - MARGIN.right;
    const solidKind = tool('kind').value === '3d', most = document.fullscreenElement === box ? innerHeight - 320 : 640;
    const h = Math.max(60, Math.min(most, solidKind ? w * .7 : w * (meta.h * dy) / (meta.w * dx)));
    const fitted = solidKind ? w : Math.min(w, h * (meta.w * dx) / (meta.h * dy));
    const fine = Math.min(2, window.devicePixelRatio || 1);
    frame.style.height = `${h + MARGIN.top + MARGIN.bottom}px`;
    Object.assign(
        map.style, {left: `${MARGIN.left}px`, top: `${MARGIN.top}px`, width: `${fitted}px`, height: `${h}px`});
    const size = [Math.max(1, Math.round(fitted * fine)), Math.max(1, Math.round(h * fine))];
    if (map.width !== size[0] || map.height !== size[1]) [map.width, map.height] = size;
  }
  function draw() {
    if (!meta) return;
    layout();
    paint();
    drawOver();
    drawProfile();
    if (spot) {
      const {dx, dy, unit} = lateral();
      told.textContent =
          `x ${si(spot[0] * dx, unit)}, y ${si(spot[1] * dy, unit)}: ${si(heightAt(...spot), meta.unit, 6)}`;
    }
    if (!range) {
      const [f, u] = prefixFor(Math.max(Math.abs(meta.low), Math.abs(meta.high)), meta.unit);
      for (const [name, v] of [['low', meta.low], ['high', meta.high]])
        if (document.activeElement !== tool(name)) tool(name).value = +(v / f).toPrecision(5);
      part('unit').textContent = u;
      tool('low').factor = f;
    }
  }
  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  }
  map.redraw = draw;  // for those who want a picture of it

  function frame(newMeta, newValues) {
    const was = meta, across = m => m.w * m.step, down = m => m.h * m.step;
    meta = newMeta;
    values = newValues;
    const near = was && Math.max(was.step, meta.step);
    if (!was || Math.abs(across(was) - across(meta)) >= near || Math.abs(down(was) - down(meta)) >= near) {
      line = [[0, Math.floor(meta.h / 2)], [meta.w - 1, Math.floor(meta.h / 2)]];
      spot = null;
    } else if (was.step !== meta.step) {  // the same frame, finer or coarser
      const moved = p => p.map((v, k) => Math.min((k ? meta.h : meta.w) - 1, Math.floor(v * was.step / meta.step)));
      line = line.map(moved);
      spot = spot && moved(spot);
    }
    gl.bindTexture(gl.TEXTURE_2D, heights);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.R16UI, meta.w, meta.h, 0, gl.RED_INTEGER, gl.UNSIGNED_SHORT, values);
    ask();
  }

  // ---- what the reader does ----
  const pixelOf = e => {
    const r = map.getBoundingClientRect(), inside = (v, n) => Math.max(0, Math.min(n - 1, Math.floor(v * n)));
    return [inside((e.clientX - r.left) / r.width, meta.w), inside((e.clientY - r.top) / r.height, meta.h)];
  };
  let from = null, was = null;
  map.addEventListener('pointerdown', e => {
    map.setPointerCapture(e.pointerId);
    from = pixelOf(e);
    was = [e.clientX, e.clientY];
  });
  map.addEventListener('pointermove', e => {
    if (!from) return;
    if (tool('kind').value === '3d') {
      turned = [
        turned[0] + (e.clientX - was[0]) * .01, Math.max(-1.5, Math.min(1.57, turned[1] + (e.clientY - was[1]) * .01))
      ];
      was = [e.clientX, e.clientY];
    } else if (Math.hypot(e.clientX - was[0], e.clientY - was[1]) > 4)
      line = [from, pixelOf(e)];
    ask();
  });
  map.addEventListener('pointerup', e => {
    if (from && tool('kind').value !== '3d' && Math.hypot(e.clientX - was[0], e.clientY - was[1]) <= 4) spot = from;
    from = null;
    ask();
  });
  map.addEventListener('wheel', e => {
    if (tool('kind').value !== '3d') return;
    e.preventDefault();
    zoom = Math.max(.3, Math.min(8, zoom * Math.exp(-e.deltaY * .001)));
    ask();
  }, {passive: false});
  for (const name of ['low', 'high'])
    tool(name).addEventListener('change', () => {
      const f = tool('low').factor || 1, low = parseFloat(tool('low').value) * f,
            high = parseFloat(tool('high').value) * f;
      range = low < high ? [low, high] : range;
      ask();
    });
  tool('auto').addEventListener('click', () => {
    range = null;
    ask();
  });
  tool('full').addEventListener(
      'click', () => document.fullscreenElement ? document.exitFullscreen() : box.requestFullscreen());
  for (const name of ['kind', 'palette']) tool(name).addEventListener('change', ask);
  window.addEventListener('resize', ask);
  document.addEventListener('fullscreenchange', ask);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ask);
  map.addEventListener('webglcontextlost', e => e.preventDefault());
  map.addEventListener('webglcontextrestored', () => {
    begin();
    if (meta) frame(meta, values);
  });
  if (!gl) {
    told.textContent = 'This view needs WebGL 2, which this browser does not have.';
    return {frame() {}, meta: () => meta, side: () => 1};
  }
  begin();
  return {frame, meta: () => meta, side: () => Math.max(map.width, map.height)};
}

// Values as they stand in a report: base64 of 16 bits each, little-endian.
function surfaceValues(text) {
  return new Uint16Array(Uint8Array.from(atob(text), c => c.charCodeAt(0)).buffer);
}
