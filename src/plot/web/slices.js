'use strict';
// A volume in three slices, across z, y and x, each with a slider, and points that lie near the slice drawn into it.
// v: {n: [columns, rows, scans], d: spacing of the three, unit, bytes: Uint8Array, points: Float64Array of x y z,
// tip: [x, y, z] or null}.
function showSlices(box) {
  const AXES = [{across: 2, right: 0, down: 1}, {across: 1, right: 0, down: 2}, {across: 0, right: 2, down: 1}];
  const figures = [...box.querySelectorAll('figure')];
  let volume = null, asked = false;

  const style = name => getComputedStyle(box).getPropertyValue(name).trim();
  const length = v => `${+ v.toPrecision(4)} ${volume.unit}`;

  function draw(k) {
    const {across, right, down} = AXES[k], canvas = figures[k].querySelector('canvas'), {n, d, bytes} = volume;
    const at = Math.min(n[across] - 1, +figures[k].querySelector('input').value), step = [1, n[0], n[0] * n[1]];
    const w = n[right], h = n[down], small = document.createElement('canvas'), g = canvas.getContext('2d');
    small.width = w;
    small.height = h;
    const image = small.getContext('2d').createImageData(w, h), to = new Uint32Array(image.data.buffer);
    for (let j = 0; j < h; ++j)
      for (let i = 0; i < w; ++i) {
        const v = bytes[at * step[across] + i * step[right] + j * step[down]];
        to[j * w + i] = 0xff000000 | v << 16 | v << 8 | v;
      }
    small.getContext('2d').putImageData(image, 0, 0);
    const fine = Math.min(2, window.devicePixelRatio || 1), wide = w * d[right], tall = h * d[down];
    canvas.style.aspectRatio = `${Math.max(.4, Math.min(3, wide / tall))}`;
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * fine));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * fine));
    g.imageSmoothingEnabled = false;
    g.drawImage(small, 0, 0, canvas.width, canvas.height);
    const x = v => (v / d[right] + .5) / w * canvas.width, y = v => (v / d[down] + .5) / h * canvas.height;
    g.fillStyle = style('--c1');
    for (let p = 0; p < volume.points.length; p += 3)
      if (Math.abs(volume.points[p + across] - at * d[across]) <= .75 * d[across])
        g.fillRect(x(volume.points[p + right]) - fine, y(volume.points[p + down]) - fine, 2 * fine, 2 * fine);
    if (volume.tip) {
      g.strokeStyle = style('--c2');
      g.lineWidth = 2 * fine;
      g.beginPath();
      g.arc(x(volume.tip[right]), y(volume.tip[down]), 7 * fine, 0, 7);
      g.stroke();
    }
    const bar = 10 ** Math.floor(Math.log10(wide / 2)), px = bar / wide * canvas.width;
    g.fillStyle = '#fff';
    g.fillRect(8 * fine, canvas.height - 10 * fine, px, 3 * fine);
    g.font = `${12 * fine}px system-ui, sans-serif`;
    g.fillText(length(bar), 8 * fine, canvas.height - 15 * fine);
    figures[k].querySelector('[data-part=at]').textContent = `${'xyz'[across]} = ${length(at * d[across])}`;
  }
  function ask() {
    if (asked || !volume) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      AXES.forEach((a, k) => draw(k));
    });
  }
  figures.forEach((f, k) => {
    f.querySelector('input').addEventListener('input', () => {
      f.held = true;
      ask();
    });
    f.querySelector('canvas').redraw = () => draw(k);
  });
  window.addEventListener('resize', ask);
  // Slices go with the tip until the reader moves them.
  return function(next) {
    volume = next;
    AXES.forEach(({across}, k) => {
      const slider = figures[k].querySelector('input'), n = volume.n[across];
      slider.max = n - 1;
      const tip = volume.tip ? Math.round(volume.tip[across] / volume.d[across]) : Math.floor(n / 2);
      if (!figures[k].held) slider.value = Math.max(0, Math.min(n - 1, tip));
    });
    ask();
  };
}
