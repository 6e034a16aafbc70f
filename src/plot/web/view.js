'use strict';
// Point clouds in canvases, with a depth buffer of their own: nothing but a browser is needed.
// clouds: [{c: colour, o: offsets, s: steps, d: base64 of three 16-bit numbers a point}];
// panels: for each canvas the clouds' transforms, 4 x 4 by rows, or null.
function showClouds(box, clouds, panels) {
  const boxes = [...box.querySelectorAll('input')];
  const held = new Map();  // pointers that are down
  let rotation, zoom, asked = false, spread = 0;

  // About the screen's axes; x to the right, y up, z towards the reader.
  function turn(a, b) {
    const c = Math.cos(a), s = Math.sin(a), d = Math.cos(b), t = Math.sin(b), [x, y, z] = rotation;
    const w = z.map((v, k) => c * v - s * x[k]);
    rotation =
        [x.map((v, k) => c * v + s * z[k]), y.map((v, k) => d * v - t * w[k]), w.map((v, k) => d * v + t * y[k])];
  }

  function reset() {
    rotation = [[1, 0, 0], [0, 0, 1], [0, -1, 0]];
    zoom = 1;
    turn(.5, .35);
  }

  function unpack(cloud) {
    const bytes = atob(cloud.d), p = new Float64Array(bytes.length / 2);
    for (let k = 0; k < p.length; ++k)
      p[k] = cloud.o[k % 3] + (bytes.charCodeAt(2 * k) | bytes.charCodeAt(2 * k + 1) << 8) * cloud.s[k % 3];
    return p;
  }

  function move(p, t) {
    if (!t) return p;
    const q = new Float64Array(p.length);
    for (let k = 0; k < p.length; k += 3)
      for (let d = 0; d < 3; ++d)
        q[k + d] = t[4 * d] * p[k] + t[4 * d + 1] * p[k + 1] + t[4 * d + 2] * p[k + 2] + t[4 * d + 3];
    return q;
  }

  function share(a, f) {
    a.sort();
    return a.length ? a[Math.floor(f * (a.length - 1))] : 0;
  }

  // Centre and radius of nearly all points: strays do not make the rest small.
  function fit(view) {
    view.centre = [0, 1, 2].map(d => {
      const a = Float64Array.from(view.points.flatMap(p => [...p].filter((x, k) => k % 3 === d)));
      return (share(a, .01) + share(a, .99)) / 2;
    });
    const c = view.centre, radii = [];
    for (const p of view.points)
      for (let k = 0; k < p.length; k += 3) radii.push(Math.hypot(p[k] - c[0], p[k + 1] - c[1], p[k + 2] - c[2]));
    view.radius = share(Float64Array.from(radii), .98) || 1;
  }

  function color(name) {
    const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
    const six = text.length === 3 ? [...text].map(c => c + c).join('') : text;
    return [0, 2, 4].map(k => parseInt(six.slice(k, k + 2), 16));
  }

  function draw(view) {
    const canvas = view.canvas, fine = Math.min(2, window.devicePixelRatio || 1);
    const w = Math.max(1, Math.round(canvas.clientWidth * fine)),
          h = Math.max(1, Math.round(canvas.clientHeight * fine));
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    const image = view.context.createImageData(w, h), pixels = image.data, depth = new Float32Array(w * h).fill(-1e30);
    const scale = .48 * Math.min(w, h) * zoom / view.radius, size = Math.max(1, Math.round(1.6 * fine));
    const ground = color('--ground'), o = view.centre;
    view.points.forEach((p, c) => {
      if (!boxes[c].checked) return;
      const rgb = color('--c' + clouds[c].c);
      for (let k = 0; k < p.length; k += 3) {
        const q = [p[k] - o[0], p[k + 1] - o[1], p[k + 2] - o[2]];
        const at = rotation.map(e => e[0] * q[0] + e[1] * q[1] + e[2] * q[2]);
        const x = Math.round(w / 2 + scale * at[0]), y = Math.round(h / 2 - scale * at[1]);
        if (x < 0 || y < 0 || x + size > w || y + size > h) continue;
        const near = Math.max(.35, Math.min(1, .7 + .35 * at[2] / view.radius));
        for (let j = y; j < y + size; ++j)
          for (let i = x; i < x + size; ++i) {
            const m = j * w + i;
            if (depth[m] >= at[2]) continue;
            depth[m] = at[2];
            for (let d = 0; d < 3; ++d) pixels[4 * m + d] = near * rgb[d] + (1 - near) * ground[d];
            pixels[4 * m + 3] = 255;
          }
      }
    });
    view.context.putImageData(image, 0, 0);
  }

  const points = clouds.map(unpack);
  const views = [...box.querySelectorAll('canvas')].map(
      (canvas, k) => ({canvas, context: canvas.getContext('2d'), points: points.map((p, c) => move(p, panels[k][c]))}));
  views.forEach(fit);
  reset();

  function ask() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      views.forEach(draw);
    });
  }

  function enlarge(by) {
    zoom = Math.max(.1, Math.min(100, zoom * by));
    ask();
  }

  const KEYS = {ArrowLeft: [-.1, 0], ArrowRight: [.1, 0], ArrowUp: [0, -.1], ArrowDown: [0, .1]};
  for (const {canvas} of views) {
    canvas.addEventListener('pointerdown', e => {
      canvas.setPointerCapture(e.pointerId);
      held.set(e.pointerId, [e.clientX, e.clientY]);
      spread = 0;
    });
    for (const name of ['pointerup', 'pointercancel'])
      canvas.addEventListener(name, e => {
        held.delete(e.pointerId);
        spread = 0;
      });
    canvas.addEventListener('pointermove', e => {
      const was = held.get(e.pointerId);
      if (!was) return;
      held.set(e.pointerId, [e.clientX, e.clientY]);
      if (held.size === 1) {
        turn((e.clientX - was[0]) * .01, (e.clientY - was[1]) * .01);
        ask();
        return;
      }
      const [a, b] = [...held.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (spread > 0) enlarge(now / spread);
      spread = now;
    });
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      enlarge(Math.exp(-e.deltaY * .0015));
    }, {passive: false});
    canvas.addEventListener('dblclick', () => {
      reset();
      ask();
    });
    canvas.addEventListener('keydown', e => {
      const step = KEYS[e.key];
      if (step)
        turn(...step);
      else if (e.key === '+')
        enlarge(1.2);
      else if (e.key === '-')
        enlarge(1 / 1.2);
      else
        return;
      e.preventDefault();
      ask();
    });
  }
  boxes.forEach(b => b.addEventListener('change', ask));
  window.addEventListener('resize', ask);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ask);
  ask();
}
