'use strict';
// Point clouds in canvases, with a depth buffer of their own: nothing but a browser is needed.
// clouds: [{c: colour, o: offsets, s: steps, d: base64 of three 16-bit numbers a point, v: base64 of a byte a point}];
// panels: for each canvas the clouds' transforms, 4 x 4 by rows, or null. The box says the unit of lengths.
// v is 0 to 254 between the ends of the colour bar, 255 beyond it.
function showClouds(box, clouds, panels) {
  const boxes = [...box.querySelectorAll('.keys input')], tool = name => box.querySelector(`[data-tool=${name}]`);
  const unit = box.dataset.unit || '';
  const held = new Map();  // pointers that are down
  const STOPS = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
  let rotation, zoom = 1, shift = [0, 0], asked = false, spread = 0, middle = null;

  function palette(v, beyond) {
    if (v === 255) return beyond;
    const at = v / 254 * (STOPS.length - 1), k = Math.min(STOPS.length - 2, Math.floor(at)), f = at - k;
    return STOPS[k].map((a, d) => a + f * (STOPS[k + 1][d] - a));
  }

  // About the screen's axes; x to the right, y up, z towards the reader.
  function turn(a, b) {
    const c = Math.cos(a), s = Math.sin(a), d = Math.cos(b), t = Math.sin(b), [x, y, z] = rotation;
    const w = z.map((v, k) => c * v - s * x[k]);
    rotation =
        [x.map((v, k) => c * v + s * z[k]), y.map((v, k) => d * v - t * w[k]), w.map((v, k) => d * v + t * y[k])];
  }

  const UP = {
    x: [[0, 1, 0], [1, 0, 0], [0, 0, -1]],
    y: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    z: [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
  };
  function stand() {
    rotation = UP[tool('up').value];
    turn(.5, .35);
  }

  // The box of the data as it lies now fills the canvas.
  function fit() {
    zoom = 1;
    shift = [0, 0];
    for (const view of views) {
      const half = view.high.map((v, d) => (v - view.low[d]) / 2);
      [view.wide, view.tall] =
          [0, 1].map(e => half.reduce((sum, v, d) => sum + Math.abs(rotation[e][d]) * v, 0) || view.radius);
    }
  }

  function bytesOf(text) {
    return Uint8Array.from(atob(text), c => c.charCodeAt(0));
  }

  function unpack(cloud) {
    const bytes = bytesOf(cloud.d), p = new Float64Array(bytes.length / 2);
    for (let k = 0; k < p.length; ++k) p[k] = cloud.o[k % 3] + (bytes[2 * k] | bytes[2 * k + 1] << 8) * cloud.s[k % 3];
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

  const axisOf = (points, d) => Float64Array.from(points.flatMap(p => [...p].filter((x, k) => k % 3 === d)));

  // Bounds, centre and radius of nearly all points: strays do not make the rest small.
  function measure(view) {
    view.low = [];
    view.high = [];
    for (let d = 0; d < 3; ++d) {
      const a = axisOf(view.points, d);
      view.low[d] = share(a, .01);
      view.high[d] = share(a, .99);
    }
    view.centre = view.low.map((v, d) => (v + view.high[d]) / 2);
    const c = view.centre, radii = [];
    for (const p of view.points)
      for (let k = 0; k < p.length; k += 3) radii.push(Math.hypot(p[k] - c[0], p[k + 1] - c[1], p[k + 2] - c[2]));
    view.radius = share(Float64Array.from(radii), .98) || 1;
  }

  // Up is the axis that a floor stands out on, a level with far more points than the others, or along which the data is
  // flat; z where neither shows.
  function guessUp(view) {
    const size = view.low.map((v, d) => view.high[d] - v), order = [0, 1, 2].sort((a, b) => size[a] - size[b]);
    if (size[order[0]] < .4 * size[order[1]]) return 'xyz'[order[0]];
    const peaks = [0, 1, 2].map(d => {
      const bins = new Array(64).fill(0), a = axisOf(view.points, d);
      for (const v of a) {
        const k = Math.floor((v - view.low[d]) / (size[d] || 1) * 64);
        if (k >= 0 && k < 64) ++bins[k];
      }
      return Math.max(...bins) / (a.length || 1);
    });
    const best = peaks.indexOf(Math.max(...peaks)), others = peaks.filter((v, d) => d !== best);
    return peaks[best] > 2 * Math.max(...others) ? 'xyz'[best] : 'z';
  }

  function color(name) {
    const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim().slice(1);
    const six = text.length === 3 ? [...text].map(c => c + c).join('') : text;
    return [0, 2, 4].map(k => parseInt(six.slice(k, k + 2), 16));
  }

  function niceStep(range, most) {
    const power = 10 ** Math.floor(Math.log10(range / most));
    return [1, 2, 5, 10].map(n => n * power).find(s => range / s <= most) || 10 * power;
  }

  const plain = (v, step) => Math.abs(v) < step * 1e-6 ? '0' : String(+v.toPrecision(6));

  // The box of the data behind the points, with ticks along three of its edges, and a bar of round length.
  function drawAxes(view, project, scale, fine) {
    const g = view.context, {low, high} = view, w = view.canvas.width, h = view.canvas.height;
    const corner = k => [0, 1, 2].map(d => k >> d & 1 ? high[d] : low[d]);
    g.lineWidth = fine;
    g.strokeStyle = getComputedStyle(view.canvas).getPropertyValue('--line');
    g.globalCompositeOperation = 'destination-over';
    g.beginPath();
    for (let k = 0; k < 8; ++k)
      for (let d = 0; d < 3; ++d) {
        if (k >> d & 1) continue;
        g.moveTo(...project(corner(k)));
        g.lineTo(...project(corner(k | 1 << d)));
      }
    g.stroke();
    g.globalCompositeOperation = 'source-over';
    g.fillStyle = getComputedStyle(view.canvas).getPropertyValue('--soft');
    g.font = `${11 * fine}px system-ui, sans-serif`;
    const middleOf = project(view.centre), up = 'xyz'.indexOf(tool('up').value);
    for (let d = 0; d < 3; ++d) {
      const edges = [0, 1, 2, 3, 4, 5, 6, 7].filter(k => !(k >> d & 1)).map(k => [k, k | 1 << d]);
      const ends = edges.map(e => e.map(k => project(corner(k))));
      const rank = e => d === up ? e[0][0] + e[1][0] : -(e[0][1] + e[1][1]);
      const at = ends.reduce((best, e, k) => rank(e) < rank(ends[best]) ? k : best, 0);
      const [a, b] = ends[at], span = high[d] - low[d], along = Math.hypot(b[0] - a[0], b[1] - a[1]);
      if (!(span > 0) || along < 40 * fine) continue;
      const step = niceStep(span, Math.max(2, Math.min(5, along / (60 * fine))));
      const mid = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      const off = [mid[0] - middleOf[0], mid[1] - middleOf[1]], length = Math.hypot(...off) || 1;
      const away = off.map(v => v / length);
      g.textAlign = away[0] > .4 ? 'left' : away[0] < -.4 ? 'right' : 'center';
      g.textBaseline = 'middle';
      for (let v = Math.ceil(low[d] / step) * step; v <= high[d]; v += step) {
        const f = (v - low[d]) / span, x = a[0] + f * (b[0] - a[0]), y = a[1] + f * (b[1] - a[1]);
        g.fillText(plain(v, step), x + away[0] * 9 * fine, y + away[1] * 11 * fine);
      }
      g.font = `bold ${12 * fine}px system-ui, sans-serif`;
      const name = 'xyz'[d] + (unit ? ` (${unit})` : ''), half = g.measureText(name).width / 2 + 4 * fine;
      g.textAlign = 'center';
      const inside = Math.max(half, Math.min(w - half, mid[0] + away[0] * 44 * fine));
      g.fillText(name, inside, mid[1] + away[1] * 34 * fine);
      g.font = `${11 * fine}px system-ui, sans-serif`;
    }
    const bar = niceStep(w / scale, 6);
    g.textAlign = 'left';
    g.textBaseline = 'alphabetic';
    g.fillRect(10 * fine, h - 10 * fine, bar * scale, 2 * fine);
    g.fillText(plain(bar, bar) + (unit && ' ' + unit), 10 * fine, h - 15 * fine);
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
    const scale = zoom * Math.min(.36 * w / view.wide, .36 * h / view.tall);
    const size = Math.max(1, Math.round(tool('size').value * fine));
    const ground = color('--ground'), beyond = color('--c1'), o = view.centre;
    const project = p => {
      const q = p.map((v, d) => v - o[d]), at = rotation.map(e => e[0] * q[0] + e[1] * q[1] + e[2] * q[2]);
      return [w / 2 + scale * at[0] + shift[0] * fine, h / 2 - scale * at[1] + shift[1] * fine];
    };
    const byValue = tool('colour') && tool('colour').value === 'value';
    const cut = 'xyz'.indexOf(tool('slice').value), span = cut < 0 ? 0 : view.high[cut] - view.low[cut];
    const place = cut < 0 ? 0 : view.low[cut] + tool('place').value / 100 * span, thick = .04 * span;
    view.points.forEach((p, c) => {
      if (!boxes[c].checked) return;
      const own = color('--c' + clouds[c].c), faint = color('--many'), values = byValue && view.valued && coded[c];
      const table = values && Array.from({length: 256}, (x, v) => palette(v, beyond));
      const [ex, ey, ez] = rotation, cx = w / 2 + shift[0] * fine, cy = h / 2 + shift[1] * fine;
      for (let k = 0; k < p.length; k += 3) {
        if (cut >= 0 && Math.abs(p[k + cut] - place) > thick) continue;
        const q0 = p[k] - o[0], q1 = p[k + 1] - o[1], q2 = p[k + 2] - o[2];
        const z = ez[0] * q0 + ez[1] * q1 + ez[2] * q2;
        const x = Math.round(cx + scale * (ex[0] * q0 + ex[1] * q1 + ex[2] * q2) - size / 2);
        const y = Math.round(cy - scale * (ey[0] * q0 + ey[1] * q1 + ey[2] * q2) - size / 2);
        if (x < 0 || y < 0 || x + size > w || y + size > h) continue;
        const rgb = values ? table[values[k / 3]] : byValue && view.valued ? faint : own;
        const near = Math.max(.35, Math.min(1, .7 + .35 * z / view.radius));
        for (let j = y; j < y + size; ++j)
          for (let i = x; i < x + size; ++i) {
            const m = j * w + i;
            if (depth[m] >= z) continue;
            depth[m] = z;
            for (let d = 0; d < 3; ++d) pixels[4 * m + d] = near * rgb[d] + (1 - near) * ground[d];
            pixels[4 * m + 3] = 255;
          }
      }
    });
    view.context.putImageData(image, 0, 0);
    drawAxes(view, project, scale, fine);
  }

  const points = clouds.map(unpack), coded = clouds.map(c => c.v ? bytesOf(c.v) : null);
  const views = [...box.querySelectorAll('canvas')].map((canvas, k) => ({
                                                          canvas,
                                                          context: canvas.getContext('2d'),
                                                          points: points.map((p, c) => move(p, panels[k][c])),
                                                          valued: k === panels.length - 1
                                                        }));
  views.forEach(measure);
  tool('up').value = guessUp(views[views.length - 1]);
  stand();
  fit();

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
    shift = shift.map(v => v * by);
    ask();
  }

  function slide(x, y) {
    shift = [shift[0] + x, shift[1] + y];
    ask();
  }

  const TURNS = {ArrowLeft: [-.1, 0], ArrowRight: [.1, 0], ArrowUp: [0, -.1], ArrowDown: [0, .1]};
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
      const step = [e.clientX - was[0], e.clientY - was[1]];
      if (held.size === 1) {
        if (e.shiftKey || e.buttons & 6) return slide(...step);
        turn(step[0] * .01, step[1] * .01);
        return ask();
      }
      const [a, b] = [...held.values()], now = Math.hypot(a[0] - b[0], a[1] - b[1]);
      const centre = [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
      if (spread > 0) {
        enlarge(now / spread);
        slide(centre[0] - middle[0], centre[1] - middle[1]);
      }
      spread = now;
      middle = centre;
    });
    canvas.addEventListener('contextmenu', e => e.preventDefault());
    canvas.addEventListener('wheel', e => {
      e.preventDefault();
      enlarge(Math.exp(-e.deltaY * .0015));
    }, {passive: false});
    canvas.addEventListener('dblclick', () => {
      stand();
      fit();
      ask();
    });
    canvas.addEventListener('keydown', e => {
      const step = TURNS[e.key];
      if (step && e.shiftKey)
        slide(step[0] * 200, step[1] * 200);
      else if (step)
        turn(...step);
      else if (e.key === '+')
        enlarge(1.2);
      else if (e.key === '-')
        enlarge(1 / 1.2);
      else if (e.key === '0')
        fit();
      else
        return;
      e.preventDefault();
      ask();
    });
  }
  tool('fit').addEventListener('click', () => {
    fit();
    ask();
  });
  tool('full').addEventListener(
      'click', () => document.fullscreenElement ? document.exitFullscreen() : box.requestFullscreen());
  tool('up').addEventListener('change', () => {
    stand();
    fit();
    ask();
  });
  if (tool('colour')) tool('colour').addEventListener('change', ask);
  for (const name of ['size', 'slice', 'place']) tool(name).addEventListener('input', ask);
  boxes.forEach(b => b.addEventListener('change', ask));
  window.addEventListener('resize', ask);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', ask);
  ask();
}
