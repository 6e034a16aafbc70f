'use strict';
// A live page: asks for the newest frame again and again, and for what happened since; goes on after the stream has
// ended, after a reload, and when the program comes back under the same address.
function showLive(kind, view) {
  const $ = id => document.getElementById(id), events = [];
  let paused = false, ended = false, shown = 0, summary = null, dirty = true, seen = [];

  function state(text, mood) {
    $('state').textContent = text;
    $('state').className = 'state ' + mood;
  }
  $('pause').addEventListener('click', () => {
    paused = !paused;
    $('pause').textContent = paused ? 'Go on' : 'Pause';
  });
  const sleep = ms => new Promise(done => setTimeout(done, ms));
  const style = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // ---- frames ----
  function show(about, buffer, at) {
    if (kind === 'surface') view.frame(about, new Uint16Array(buffer, at, about.w * about.h));
    if (kind === 'needle') {
      const n = about.n[0] * about.n[1] * about.n[2], points = n + (8 - n % 8) % 8;
      view({
        ...about,
        bytes: new Uint8Array(buffer, at, n),
        points: new Float64Array(buffer, at + points, (about.bytes - points) / 8)
      });
    }
    ++shown;
    seen.push(performance.now());
    seen = seen.filter(t => t > performance.now() - 2000);
  }
  // As many pixels as the canvas has; while paused one frame with all of them, to look at.
  async function frames() {
    for (let have = 0, whole = false;;) {
      if (document.hidden || (paused && whole)) {
        await sleep(50);
        continue;
      }
      const still = paused;
      try {
        const side = kind === 'surface' && !still ? view.side() : 0,
              answer = await fetch(`frame?after=${have}&side=${side}`);
        if (answer.status === 200) {
          const buffer = await answer.arrayBuffer(), length = new Uint32Array(buffer, 0, 1)[0];
          const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, length)));
          have = about.number;
          if (paused === still) show(about, buffer, 8 + length);
          whole = still && !(about.step > 1);  // another page may have asked for less
        } else if (ended)
          await sleep(1000);
      } catch (e) {
        await sleep(1000);
        have = 0;
      }
    }
  }

  // ---- events ----
  async function happenings() {
    for (let next = 0;;) {
      try {
        const answer = await fetch('events?after=' + next), said = await answer.json();
        if (said.next < next) events.length = 0;  // another run
        next = said.next;
        ended = said.ended;
        for (const e of said.events)
          if (e.summary)
            summary = e;
          else
            events.push(e);
        dirty = dirty || said.events.length > 0;
        state(ended ? 'ended' : 'live', ended ? '' : 'on');
        if (ended) await sleep(1000);
      } catch (e) {
        state(ended ? 'ended; the program is gone' : 'no connection', ended ? '' : 'lost');
        await sleep(1000);
      }
    }
  }

  // ---- charts ----
  // series: [{name, colour, points: [[x, y]], dots}]; log: of y; along: what x is.
  function chart(title, unit, series, along, log) {
    let figure = [...$('charts').children].find(f => f.dataset.title === title);
    if (!figure) {
      figure = document.createElement('figure');
      figure.dataset.title = title;
      figure.append(document.createElement('figcaption'), document.createElement('canvas'));
      $('charts').append(figure);
    }
    const canvas = figure.lastChild, fine = Math.min(2, window.devicePixelRatio || 1), g = canvas.getContext('2d');
    const w = canvas.clientWidth, h = canvas.clientHeight, good = y => Number.isFinite(y) && (!log || y > 0);
    canvas.width = w * fine;
    canvas.height = h * fine;
    g.scale(fine, fine);
    const all = series.flatMap(s => s.points.filter(p => good(p[1])));
    const newest = (series[log ? 0 : series.length - 1] || {points: []}).points;
    const last = newest.length ? newest[newest.length - 1][1] : NaN;
    figure.firstChild.textContent = `${title}${Number.isFinite(last) ? `: ${+ last.toPrecision(4)} ${unit}` : ''}`;
    if (!all.length) return;
    const f = log ? Math.log10 : y => y;
    let x0 = Infinity, x1 = -Infinity, y0 = log ? Infinity : 0, y1 = -Infinity;
    for (const [x, y] of all)
      [x0, x1, y0, y1] = [Math.min(x0, x), Math.max(x1, x), Math.min(y0, f(y)), Math.max(y1, f(y))];
    if (y1 <= y0) [y0, y1] = log ? [y0 - .5, y1 + .5] : [0, 1];
    g.fillStyle = style('--soft');
    g.font = '11px system-ui, sans-serif';
    const back = v => log ? 10 ** v : v, marks = [y0, (y0 + y1) / 2, y1].map(back), texts = marks.map(short);
    const left = Math.ceil(Math.max(...texts.map(t => g.measureText(t).width))) + 8, wide = w - left - 8;
    const X = x => left + (x - x0) / (x1 - x0 || 1) * wide, Y = y => 8 + (1 - (f(y) - y0) / (y1 - y0)) * (h - 28);
    g.textAlign = 'right';
    marks.forEach((v, k) => {
      g.fillText(texts[k], left - 4, Y(v) + 4);
      g.fillRect(left, Y(v), wide, .5);
    });
    g.textAlign = 'left';
    g.fillText(short(x0), left, h - 4);
    g.textAlign = 'center';
    g.fillText(along, left + wide / 2, h - 4);
    g.textAlign = 'right';
    if (x1 > x0) g.fillText(short(x1), w - 8, h - 4);
    for (const s of series) {
      g.strokeStyle = g.fillStyle = style(s.colour);
      g.lineWidth = 1.5;
      g.beginPath();
      for (const [x, y] of s.points) {
        if (!good(y)) continue;
        if (s.dots)
          g.fillRect(X(x) - 1.5, Y(y) - 1.5, 3, 3);
        else
          g.lineTo(X(x), Y(y));
      }
      if (!s.dots) g.stroke();
    }
  }
  // Three digits, without rows of zeros.
  function short(v) {
    const size = Math.abs(v),
          text = size && (size < 1e-3 || size >= 1e6) ? v.toExponential(1) : String(+v.toPrecision(3));
    return text.replace('e+', 'e').replace('-', '−');
  }
  const curve = (name, key, factor = 1) => events.filter(e => key in e).map(e => [e[name], e[key] * factor]);
  function table(rows) {
    const table = document.createElement('table');
    for (const row of rows) {
      const tr = table.insertRow();
      for (const cell of row) tr.insertCell().textContent = cell;
    }
    $('rows').replaceChildren(table);
  }
  // Names and numbers of a summary as people read them: latency_s: {p50: 0.0046} is "latency p50: 4.6 ms".
  const NAMES = {fps: 'frames per second', seconds: 'time', reason: 'why', rmse: 'RMSE', tried: 'candidates'};
  function flatten(front, value, time) {
    return Object.entries(value).flatMap(([k, v]) => {
      const isTime = time || k.endsWith('_s') || k === 'seconds', plainly = k.replace(/_s$/, '').replace(/_/g, ' ');
      const name = `${front} ${NAMES[k] || plainly}`.trim();
      if (v && typeof v === 'object' && !Array.isArray(v)) return flatten(name, v, isTime);
      return [[name, k === 'overlap' ? `${+ (100 * v).toPrecision(3)} %` : isTime ? seconds(v) : number(v)]];
    });
  }
  function seconds(v) {
    const [f, u] = [[1, 's'], [1e-3, 'ms'], [1e-6, 'µs']].find(([f]) => v >= f) || [1e-9, 'ns'];
    return `${+ (v / f).toPrecision(4)} ${u}`;
  }
  const number = v => Array.isArray(v) ?
      v.map(e => Array.isArray(e) ? e.map(number).join('  ') : number(e)).join('\n') :
      typeof v === 'number' ? String(+v.toPrecision(6)) :
                              String(v);
  const DRAW = {
    surface() {
      const rate = [];
      for (let k = 1; k < events.length; ++k)
        if (events[k].t > events[k - 1].t)
          rate.push([events[k].t, (events[k].answered - events[k - 1].answered) / (events[k].t - events[k - 1].t)]);
      chart('frames per second', '1/s', [{colour: '--c0', points: rate}], 's');
      chart('latency', 'ms', [{colour: '--c1', points: curve('t', 'latency_s', 1e3)}], 's');
      chart('dropped', 'frames', [{colour: '--c3', points: curve('t', 'dropped')}], 's');
      const e = events[events.length - 1];
      if (e)
        $('facts').textContent = `frame ${e.answered}; ${e.note || ''} ` +
            (ended ? `${shown} shown` : `${(seen.length / 2).toFixed(0)} shown per second`);
    },
    tune() {
      const good = events.filter(e => e.ratio > 0), best = [];
      let least = Infinity;
      for (const e of good) best.push([e.n, least = Math.min(least, e.ratio)]);
      chart(
          'best so far: time over that of the estimate', '',
          [{colour: '--c2', points: best}, {colour: '--many', dots: true, points: good.map(e => [e.n, e.ratio])}],
          'candidate', true);
      const failures = {};
      for (const e of events)
        if (e.failed) failures[e.failed] = (failures[e.failed] || 0) + 1;
      const slower = events.filter(e => !e.failed && !(e.ratio > 0)).length;
      const winner = good.reduce((a, e) => !a || e.ratio < a.ratio ? e : a, null);
      $('facts').textContent = `${events.length} candidates`;
      table([
        ['best so far', winner ? winner.variant : '–'],
        ['its time over the estimate’s', winner ? number(winner.ratio) : '–'],
        ...(slower ? [['clearly slower, not timed on', slower]] : []),
        ...Object.entries(failures).map(([why, n]) => ['failed: ' + why, n])
      ]);
    },
    register() {
      chart('RMSE, weighted', '', [{colour: '--c0', points: curve('iteration', 'rmse')}], 'iteration', true);
      chart('distance scale', '', [{colour: '--c2', points: curve('iteration', 'sigma')}], 'iteration', true);
      chart('largest motion', '', [{colour: '--c1', points: curve('iteration', 'motion')}], 'iteration', true);
      const e = events[events.length - 1];
      if (e) $('facts').textContent = `iteration ${e.iteration}, ${e.source} and ${e.target} points`;
    },
    lattice() {
      const e = events[events.length - 1], parts = [];
      for (const {t, share, note} of events) {
        const last = parts[parts.length - 1], p = [t, 100 * share];
        if (last && last.note === note && p[1] >= last.points[last.points.length - 1][1])
          last.points.push(p);
        else
          parts.push({note, colour: '--c' + parts.length % 6, points: [p]});
      }
      chart('parts of the work', '%', parts, 's');
      if (e) $('facts').textContent = ended ? '' : `${e.note}: ${Math.round(100 * e.share)} %`;
    }
  };
  DRAW.needle = DRAW.surface;
  function draw() {
    if (dirty) {
      dirty = false;
      DRAW[kind]();
      $('pause').hidden = ended || !view;
      if (summary) table(flatten('', summary).filter(([k]) => k !== 'summary'));
    }
    setTimeout(() => requestAnimationFrame(draw), 250);
  }
  for (const name of ['resize', 'visibilitychange']) window.addEventListener(name, () => dirty = true);
  window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => dirty = true);
  window.live = {shown: () => shown, events: () => events.length, ended: () => ended, rate: () => seen.length / 2};
  if (view) frames();
  happenings();
  draw();
}
