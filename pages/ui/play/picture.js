// What is drawn in the plane: points, f as tints, lines and their margins, support vectors, and what lies over them.
//
//   f(x) = sum_i alpha_i y_i K(x_i, x) + b     at the nodes of a grid and under the cursor, from the machine alone
//   y_i = 1 for points of the machine's own label, else -1; of several machines the largest f decides

const RGB = { 1: [0, 114, 178], "-1": [213, 94, 0], 2: [0, 158, 115], 0: [138, 143, 152] } // label -> colour; 0: the rest
const NAME = { 1: "blue", "-1": "orange", 2: "green" }
const COLOUR = { // lighter on dark
  1: "var(--st-blue-color, #0072B2)", "-1": "var(--st-orange-color, #D55E00)",
  2: "var(--st-green-color, #009E73)", 0: "var(--st-gray-color, #8A8F98)",
}
const HALF = 1.02 // of the plane's side, in its own units
const NODES = 81 // of the grid, a side
const TIE = 1e-6 // values of f that differ by less are equal, and the first machine decides; as in solve.py

// A point of a class, told apart by colour and by shape: blue discs, orange squares, green diamonds.
function spot(label, x, y, r, name, more = {}) {
  const look = { fill: NAME[label] ? COLOUR[label] : "none", class: name, ...more }
  if (label === -1) return make("rect", { x: x - 0.9 * r, y: y - 0.9 * r, width: 1.8 * r, height: 1.8 * r, ...look })
  if (label === 2) return make("polygon", { points: diamond(x, y, 1.25 * r), ...look })
  return make("circle", { cx: x, cy: y, r, ...look })
}

const diamond = (x, y, r) => `${x} ${y - r} ${x + r} ${y} ${x} ${y + r} ${x - r} ${y}`

// Kernels and f

function kernelOf({ kernel: name, degree, gamma, coef0 }) {
  if (name === "linear") return (u0, u1, v0, v1) => u0 * v0 + u1 * v1
  if (name === "sigmoid") return (u0, u1, v0, v1) => Math.tanh(gamma * (u0 * v0 + u1 * v1) + coef0)
  if (name === "poly") return (u0, u1, v0, v1) => ((u0 * v0 + u1 * v1 + 1) / 2) ** degree
  return (u0, u1, v0, v1) => Math.exp(-gamma * ((u0 - v0) ** 2 + (u1 - v1) ** 2))
}

const at = (k) => -HALF + (2 * HALF * k) / (NODES - 1)
const sideOf = (machine, label) => (label === machine.sign ? 1 : -1)

function rowOf(play, i) {
  if (!play.rows[i]) {
    const [x0, x1] = play.data.examples[i]
    const row = new Float64Array(NODES * NODES)
    for (let r = 0; r < NODES; r++) for (let c = 0; c < NODES; c++) row[r * NODES + c] = play.kernel(x0, x1, at(c), at(r))
    play.rows[i] = row
  }
  return play.rows[i]
}

function fieldOf(play, machine) {
  const f = new Float64Array(NODES * NODES).fill(machine.bias)
  machine.alpha.forEach((alpha, i) => {
    if (!alpha) return
    const row = rowOf(play, i)
    const coef = alpha * sideOf(machine, play.data.examples[i][2])
    for (let k = 0; k < f.length; k++) f[k] += coef * row[k]
  })
  return f
}

function valueAt(play, machine, x0, x1) {
  let f = machine.bias
  machine.alpha.forEach((alpha, i) => {
    if (!alpha) return
    const [a0, a1, label] = play.data.examples[i]
    f += alpha * sideOf(machine, label) * play.kernel(a0, a1, x0, x1)
  })
  return f
}

// What machines say where their values are f: a label, and the value that decides
function verdict(machines, f) {
  if (machines.length === 1) return { label: f[0] > 0 ? machines[0].sign : machines[0].rest, f: f[0] }
  const most = Math.max(...f), best = f.findIndex((value) => value >= most - TIE)
  return { label: machines[best].sign, f: f[best] }
}

const verdictAt = (play, machines, x, y) => verdict(machines, machines.map((one) => valueAt(play, one, x, y)))

function isWrong(play, machines, x, y, label) {
  const said = verdictAt(play, machines, x, y).label
  return said !== label && (said !== 0 || label === machines[0].sign)
}

// The machines that are shown: the trained ones, or one at a frame of the tape; none before anything is learned
function machinesNow({ data, tape, frame }) {
  if (!tape || frame >= tape.step.length) return data.machines
  return [{ ...data.machines[0], alpha: tape.alphas[frame], bias: tape.bias[frame], C: tape.C ? tape.C[frame] : data.machines[0].C }]
}

// Pictures

function contour(f, level) {
  let path = ""
  const between = (a, b, va, vb) => a + ((level - va) / (vb - va)) * (b - a)
  for (let r = 0; r + 1 < NODES; r++) {
    for (let c = 0; c + 1 < NODES; c++) {
      const v = [f[r * NODES + c], f[r * NODES + c + 1], f[(r + 1) * NODES + c + 1], f[(r + 1) * NODES + c]]
      const x = [c, c + 1, c + 1, c], y = [r, r, r + 1, r + 1]
      const cuts = []
      for (let k = 0; k < 4; k++) {
        const n = (k + 1) % 4
        if (v[k] > level !== v[n] > level) cuts.push([between(x[k], x[n], v[k], v[n]), between(y[k], y[n], v[k], v[n])])
      }
      for (let k = 0; k + 1 < cuts.length; k += 2) path += `M${cuts[k]}L${cuts[k + 1]}`
    }
  }
  return path.replace(/,/g, " ")
}

// Which of several fields is largest at each node, that value, and the next
function ranked(fields) {
  const top = Float64Array.from(fields[0]), next = new Float64Array(top.length).fill(-Infinity), best = new Uint8Array(top.length)
  fields.slice(1).forEach((field, k) => field.forEach((f, node) => {
    if (f > top[node]) { next[node] = top[node]; top[node] = f; best[node] = k + 1 } else if (f > next[node]) next[node] = f
  }))
  return { top, next, best }
}

function tint(canvas, labels, { top, next, best }) {
  canvas.width = canvas.height = NODES
  const pen = canvas.getContext("2d")
  const image = pen.createImageData(NODES, NODES), { data } = image
  for (let r = 0, k = 0; r < NODES; r++) {
    for (let c = 0; c < NODES; c++, k += 4) {
      const node = (NODES - 1 - r) * NODES + c, colour = RGB[labels[best[node]]]
      data[k] = colour[0]
      data[k + 1] = colour[1]
      data[k + 2] = colour[2]
      data[k + 3] = 22 + 38 * Math.min(1, (top[node] - next[node]) / 2)
    }
  }
  pen.putImageData(image, 0, 0)
}

// Tints and lines. Of one machine the lines are f = 0 and f = -1, 1; of several each one's f = 0, and where it leads
function drawFields(play, machines) {
  const { parts, size } = play, fields = machines.map((machine) => fieldOf(play, machine)), [one] = machines
  const alone = machines.length === 1, all = ranked(alone ? [fields[0], fields[0].map((f) => -f)] : fields)
  tint(parts.canvas, alone ? [one.sign, one.rest] : machines.map(({ sign }) => sign), all)
  const scale = size / (NODES - 1)
  const group = make("g", { transform: `translate(0 ${size}) scale(${scale} ${-scale})` })
  const add = (f, level, kind, style = "") => group.append(make("path", { d: contour(f, level), class: kind, style }))
  if (alone) for (const [level, kind] of [[-1, "margin"], [1, "margin"], [0, "line"]]) add(fields[0], level, kind)
  else fields.forEach((field, k) => {
    add(field, 0, "margin", `stroke: ${COLOUR[machines[k].sign]}`)
    add(field.map((f, node) => f - (all.best[node] === k ? all.next : all.top)[node]), 0, "line")
  })
  parts.lines.append(group)
}

function drawMachine(play) {
  const { data, parts, size } = play
  const machines = machinesNow(play).filter(({ alpha }) => alpha.some((one) => one))
  const px = (x) => ((x + HALF) / (2 * HALF)) * size, py = (y) => size - px(y)
  parts.canvas.style.visibility = machines.length ? "visible" : "hidden"
  parts.lines.replaceChildren()
  if (machines.length) drawFields(play, machines)
  if (data.law.length) {
    let d = "", pen = "M"
    for (const [x, y] of data.law) {
      if (x === null) pen = "M"
      else { d += `${pen}${px(x)} ${py(y)}`; pen = "L" }
    }
    parts.lines.append(make("path", { d, class: "law" }))
  }
  if ((!play.tape || play.frame === play.tape.trained) && !play.drag) drawLayer(play, px, py)
  drawPoints(play, machines, px, py)
}

// What is drawn over the trained machine: lines beside it, hulls and their nearest points, forces (layers.py), answers of
// a class (rings: of a point, by which share of the class); and what the reader draws
function drawLayer(play, px, py) {
  const { lines = [], rings = [], polygons = [], segment, arrows = [] } = play.data.layer
  const add = (tag, look) => play.parts.lines.append(make(tag, look))
  const stroke = ([[x1, y1], [x2, y2]], kind, far = 0) => { // far: how far beyond its ends, in the plane's units
    const by = far / (Math.hypot(x2 - x1, y2 - y1) || 1), dx = by * (x2 - x1), dy = by * (y2 - y1)
    add("line", { x1: px(x1 - dx), y1: py(y1 - dy), x2: px(x2 + dx), y2: py(y2 + dy), class: kind })
  }
  const ring = ([x, y], r, kind) => add("circle", { cx: px(x), cy: py(y), r, class: kind })
  for (const ends of lines) stroke(ends, "other", 4 * HALF)
  for (const [i, share] of rings) ring(play.data.points[i], 10 + 14 * share, "other")
  const [x1, y1, x2, y2] = play.sketch
  if (play.data.kind === "rings") for (const i of play.sketch) ring(play.data.points[i], 12, "mine")
  else if (play.sketch.length === 2) ring([x1, y1], 5, "mine")
  else if (play.sketch.length) stroke([[x1, y1], [x2, y2]], "mine", 4 * HALF)
  for (const [label, corners] of polygons) {
    const d = `M${corners.map(([x, y]) => `${px(x)} ${py(y)}`).join("L")}Z`
    add("path", { d, class: "hull", stroke: COLOUR[label], style: `fill: ${COLOUR[label]}` })
  }
  if (segment) {
    stroke(segment, "nearest")
    for (const [x, y] of segment) add("polygon", { points: diamond(px(x), py(y), 7), class: "end" })
  }
  for (const [x, y, dx, dy, label] of arrows) {
    const a = px(x), b = py(y), c = px(x + dx), d = py(y + dy), turn = Math.atan2(d - b, c - a)
    const barb = (by) => `M${c} ${d}L${c - 10 * Math.cos(turn + by)} ${d - 10 * Math.sin(turn + by)}`
    add("path", { d: `M${a} ${b}L${c} ${d}${barb(0.45)}${barb(-0.45)}`, class: "force", stroke: COLOUR[label] })
  }
}

function drawPoints(play, machines, px, py) {
  const { data, parts } = play
  const marks = [], rings = []
  const wide = Math.max(play.size / 520, 0.72) * Math.min(1, Math.sqrt(90 / data.points.length))
  const most = Math.max(...machines.flatMap(({ alpha }) => alpha), 1e-12)
  const pair = play.tape ? play.tape.pair[play.frame] || [] : []
  const changed = play.tape?.C ? play.tape.events[play.frame].map(({ i }) => i) : enteredIn(play)
  const inside = play.tape?.inside && new Set(play.tape.inside[play.frame])
  const outOfView = (x, y) => Math.abs(x) > HALF || Math.abs(y) > HALF
  data.examples.forEach(([x, y, label, parent, copy], i) => {
    if (!copy) return
    const sv = machines.some(({ alpha }) => alpha[i] > 0)
    if (sv) {
      const [x0, y0] = data.examples[parent]
      marks.push(make("line", { x1: px(x0), y1: py(y0), x2: px(x), y2: py(y), class: "tie", stroke: COLOUR[label] }))
    }
    if (!outOfView(x, y)) marks.push(spot(label, px(x), py(y), (sv ? 3 : 1.8) * wide, sv ? "copy" : "copy faint"))
  })
  data.points.forEach(([, , label], i) => {
    const [x, y] = placeOf(play, i)
    marks.push(spot(label, px(x), py(y), 4.2 * wide, inside && !inside.has(i) ? "point outside" : "point", { "data-i": i }))
  })
  for (const { alpha, C, sign } of machines) { // a point that supports several machines has rings of each around it
    alpha.forEach((value, i) => {
      const [, , label, , copy] = data.examples[i], [x, y] = placeOf(play, i)
      if (!value || outOfView(x, y)) return
      for (let times = value >= C ? 2 : 1; times; times--) {
        rings[i] = Math.max((rings[i] || 0) + 3.2 * wide, (6.5 + 7 * Math.sqrt(value / most)) * wide)
        const stroke = COLOUR[machines.length > 1 ? sign : label]
        marks.push(make("circle", { cx: px(x), cy: py(y), r: rings[i], stroke, class: copy ? "ring virtual" : "ring" }))
      }
    })
  }
  if (machines.length) { // else nothing is learned yet, and crosses would hide the colours
    data.points.forEach(([, , label], i) => {
      const [x, y] = placeOf(play, i)
      if (!isWrong(play, machines, x, y, label)) return
      const d = 5 * wide, a = px(x), b = py(y)
      marks.push(make("path", { d: `M${a - d} ${b - d}L${a + d} ${b + d}M${a + d} ${b - d}L${a - d} ${b + d}`, class: "cross" }))
    })
  }
  if (pair.length) {
    const [a, b] = pair.map((i) => data.examples[i])
    marks.push(make("line", { x1: px(a[0]), y1: py(a[1]), x2: px(b[0]), y2: py(b[1]), class: "pair" }))
  }
  for (const i of [...pair, ...changed]) {
    const [x, y] = data.examples[i]
    marks.push(make("circle", { cx: px(x), cy: py(y), r: 18 * wide, class: "pair" }))
  }
  for (const [x, y, label] of unanswered(play)) marks.push(spot(label, px(x), py(y), 4.2 * wide, "point pending"))
  const asked = play.tokens.filter((token) => token[0] === "q").map(placeFrom).at(-1)
  if (asked || data.question) {
    const [x, y] = asked ? [asked.x, asked.y] : data.question
    const colour = machines.length ? COLOUR[verdictAt(play, machines, x, y).label] : "currentColor"
    marks.push(make("circle", { cx: px(x), cy: py(y), r: 12 * wide, class: "asked", stroke: colour }))
    marks.push(make("text", { x: px(x), y: py(y) + 5 * wide, class: "asked", fill: colour, "font-size": 15 * wide }, "?"))
  }
  parts.marks.replaceChildren(...marks)
  drawCursor(play)
}

// What the server has not answered yet: points added or of another colour, and in label 0 those removed
function unanswered(play) {
  const { data, trails } = play, now = pointsNow(play)
  const left = new Set([...now.map(({ token }) => token), ...trails.flatMap(({ names }) => [...names])])
  const drawn = new Map(data.points.map(([, , label, token]) => [token, label]))
  const followed = (token) => trails.some(({ names }) => names.has(token) && [...names].some((name) => drawn.has(name)))
  return [
    ...now.filter(({ token, label }) => drawn.get(token) !== label && !followed(token)).map(({ x, y, label }) => [x, y, label]),
    ...data.points.filter(([, , , token]) => !left.has(token)).map(([x, y]) => [x, y, 0]),
  ]
}

function drawCursor(play) {
  const { parts, cursor, size } = play
  parts.cursor.style.visibility = cursor && document.activeElement && play.focused ? "visible" : "hidden"
  if (!cursor) return
  const x = ((cursor[0] + HALF) / (2 * HALF)) * size, y = size - ((cursor[1] + HALF) / (2 * HALF)) * size
  parts.cursor.setAttribute("d", `M${x - 14} ${y}H${x - 4}M${x + 4} ${y}H${x + 14}M${x} ${y - 14}V${y - 4}M${x} ${y + 4}V${y + 14}`)
}
