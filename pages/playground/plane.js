// The plane of the Playground: points, f as two tints, the line and its margins, support vectors; and the tape.
//
//   f(x) = sum_i alpha_i y_i K(x_i, x) + b     at the nodes of a grid and under the cursor, from the machine alone
//
// A tape goes along the steps of the solver, along growing C (the regularisation path), with a chart of it (path.js), or
// along the rounds of a decomposition: points outside the working set are faint, those that have entered it are ringed.
// The kernel values of grid and examples are computed once for a tape; a frame is their linear combination. Points are
// edited by tokens ("b12_-40", "x17", "f3"; see setting.py): the browser holds their text until the server has the same.

const BLUE = [0, 114, 178], ORANGE = [213, 94, 0]
const COLOUR = { 1: "var(--st-blue-color, #0072B2)", "-1": "var(--st-orange-color, #D55E00)" } // lighter on dark
const HALF = 1.02 // of the plane's side, in its own units
const NODES = 81 // of the grid, a side
const NEAR = 9 // screen pixels from which a click means a point
const STEP = 0.05 // of the cursor, by an arrow key

// A point of either class, told apart by colour and by shape: blue discs, orange squares.
function spot(sign, x, y, r, name, more = {}) {
  const look = { fill: COLOUR[sign] || "none", class: name, ...more }
  if (sign >= 0) return make("circle", { cx: x, cy: y, r, ...look })
  const half = 0.9 * r
  return make("rect", { x: x - half, y: y - half, width: 2 * half, height: 2 * half, ...look })
}

// Kernels and f

function kernelOf({ kernel: name, degree, gamma, coef0 }) {
  if (name === "linear") return (u0, u1, v0, v1) => u0 * v0 + u1 * v1
  if (name === "sigmoid") return (u0, u1, v0, v1) => Math.tanh(gamma * (u0 * v0 + u1 * v1) + coef0)
  if (name === "poly") return (u0, u1, v0, v1) => ((u0 * v0 + u1 * v1 + 1) / 2) ** degree
  return (u0, u1, v0, v1) => Math.exp(-gamma * ((u0 - v0) ** 2 + (u1 - v1) ** 2))
}

const at = (k) => -HALF + (2 * HALF * k) / (NODES - 1)

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
    const coef = alpha * play.data.examples[i][2]
    for (let k = 0; k < f.length; k++) f[k] += coef * row[k]
  })
  return f
}

function valueAt(play, machine, x0, x1) {
  let f = machine.bias
  machine.alpha.forEach((alpha, i) => {
    if (!alpha) return
    const [a0, a1, sign] = play.data.examples[i]
    f += alpha * sign * play.kernel(a0, a1, x0, x1)
  })
  return f
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

function tint(canvas, f) {
  canvas.width = canvas.height = NODES
  const pen = canvas.getContext("2d")
  const image = pen.createImageData(NODES, NODES)
  for (let r = 0; r < NODES; r++) {
    for (let c = 0; c < NODES; c++) {
      const value = f[(NODES - 1 - r) * NODES + c], k = 4 * (r * NODES + c)
      image.data.set(value > 0 ? BLUE : ORANGE, k)
      image.data[k + 3] = 22 + 38 * Math.min(1, Math.abs(value))
    }
  }
  pen.putImageData(image, 0, 0)
}

function drawMachine(play) {
  const { data, parts, size } = play
  const machine = machineNow(play)
  const px = (x) => ((x + HALF) / (2 * HALF)) * size, py = (y) => size - px(y)
  const none = !machine || !machine.alpha.some((alpha) => alpha)
  parts.canvas.style.visibility = none ? "hidden" : "visible"
  parts.lines.replaceChildren()
  if (!none) {
    const f = fieldOf(play, machine)
    tint(parts.canvas, f)
    const scale = size / (NODES - 1)
    const group = make("g", { transform: `translate(0 ${size}) scale(${scale} ${-scale})` })
    for (const [level, kind] of [[-1, "margin"], [1, "margin"], [0, "line"]]) {
      group.append(make("path", { d: contour(f, level), class: kind }))
    }
    parts.lines.append(group)
  }
  if (data.law.length) {
    let d = "", pen = "M"
    for (const [x, y] of data.law) {
      if (x === null) pen = "M"
      else { d += `${pen}${px(x)} ${py(y)}`; pen = "L" }
    }
    parts.lines.append(make("path", { d, class: "law" }))
  }
  if (!none && (!play.tape || play.frame === play.tape.trained) && !play.drag) drawLayer(play, px, py)
  drawPoints(play, machine, px, py)
}

// What is drawn over the trained machine (layers.py): lines beside it, hulls and their nearest points, forces
function drawLayer(play, px, py) {
  const { lines = [], polygons = [], segment, arrows = [] } = play.data.layer
  const stroke = (ends, kind) => {
    const [[x1, y1], [x2, y2]] = ends
    play.parts.lines.append(make("line", { x1: px(x1), y1: py(y1), x2: px(x2), y2: py(y2), class: kind }))
  }
  for (const ends of lines) stroke(ends, "other")
  for (const [sign, corners] of polygons) {
    const d = `M${corners.map(([x, y]) => `${px(x)} ${py(y)}`).join("L")}Z`
    play.parts.lines.append(make("path", { d, class: "hull", stroke: COLOUR[sign], style: `fill: ${COLOUR[sign]}` }))
  }
  if (segment) {
    stroke(segment, "nearest")
    for (const [x, y] of segment) {
      const a = px(x), b = py(y)
      play.parts.lines.append(make("path", { d: `M${a} ${b - 7}L${a + 7} ${b}L${a} ${b + 7}L${a - 7} ${b}Z`, class: "end" }))
    }
  }
  for (const [x, y, dx, dy, sign] of arrows) {
    const a = px(x), b = py(y), c = px(x + dx), d = py(y + dy), turn = Math.atan2(d - b, c - a)
    const barb = (by) => `M${c} ${d}L${c - 10 * Math.cos(turn + by)} ${d - 10 * Math.sin(turn + by)}`
    const path = `M${a} ${b}L${c} ${d}${barb(0.45)}${barb(-0.45)}`
    play.parts.lines.append(make("path", { d: path, class: "force", stroke: COLOUR[sign] }))
  }
}

function drawPoints(play, machine, px, py) {
  const { data, parts } = play
  const marks = []
  const wide = Math.max(play.size / 520, 0.72)
  const alpha = machine ? machine.alpha : []
  const most = Math.max(...alpha, 1e-12)
  const pair = play.tape ? play.tape.pair[play.frame] || [] : []
  const changed = play.tape?.C ? play.tape.events[play.frame].map(({ i }) => i) : enteredIn(play)
  const inside = play.tape?.inside && new Set(play.tape.inside[play.frame])
  data.examples.forEach(([x, y, sign, parent, copy], i) => {
    if (!copy) return
    const sv = alpha[i] > 0
    if (sv) {
      const [x0, y0] = data.examples[parent]
      marks.push(make("line", { x1: px(x0), y1: py(y0), x2: px(x), y2: py(y), class: "tie", stroke: COLOUR[sign] }))
    }
    if (Math.abs(x) > HALF || Math.abs(y) > HALF) return
    marks.push(spot(sign, px(x), py(y), (sv ? 3 : 1.8) * wide, sv ? "copy" : "copy faint"))
  })
  data.points.forEach(([, , sign], i) => {
    const [x, y] = placeOf(play, i)
    marks.push(spot(sign, px(x), py(y), 4.2 * wide, inside && !inside.has(i) ? "point outside" : "point", { "data-i": i }))
  })
  alpha.forEach((value, i) => {
    const [, , sign, , copy] = data.examples[i], [x, y] = placeOf(play, i)
    if (!value || Math.abs(x) > HALF || Math.abs(y) > HALF) return
    const r = (6.5 + 7 * Math.sqrt(value / most)) * wide
    const ring = { cx: px(x), cy: py(y), r, stroke: COLOUR[sign], class: copy ? "ring virtual" : "ring" }
    marks.push(make("circle", ring))
    if (value >= machine.C) marks.push(make("circle", { ...ring, r: r + 3.2 * wide }))
  })
  if (alpha.some((one) => one)) { // else nothing is learned yet, and crosses would hide the colours
    data.points.forEach(([, , sign], i) => {
      const [x, y] = placeOf(play, i)
      if (valueAt(play, machine, x, y) * sign > 0) return
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
  for (const [x, y, sign] of play.pending) {
    marks.push(spot(sign, px(x), py(y), 4.2 * wide, "point pending"))
  }
  if (data.question) {
    const [x, y] = data.question
    const f = machine ? valueAt(play, machine, x, y) : 0
    const colour = f ? COLOUR[Math.sign(f)] : "currentColor"
    marks.push(make("circle", { cx: px(x), cy: py(y), r: 12 * wide, class: "asked", stroke: colour }))
    marks.push(make("text", { x: px(x), y: py(y) + 5 * wide, class: "asked", fill: colour, "font-size": 15 * wide }, "?"))
  }
  parts.marks.replaceChildren(...marks)
  drawCursor(play)
}

function drawCursor(play) {
  const { parts, cursor, size } = play
  parts.cursor.style.visibility = cursor && document.activeElement && play.focused ? "visible" : "hidden"
  if (!cursor) return
  const x = ((cursor[0] + HALF) / (2 * HALF)) * size, y = size - ((cursor[1] + HALF) / (2 * HALF)) * size
  parts.cursor.setAttribute("d", `M${x - 14} ${y}H${x - 4}M${x + 4} ${y}H${x + 14}M${x} ${y - 14}V${y - 4}M${x} ${y + 4}V${y + 14}`)
}

// The machine that is shown: the trained one, or a frame of the tape

function machineNow(play) {
  const { data, tape } = play
  const { frame } = play
  if (tape && frame < tape.step.length) return { alpha: tape.alphas[frame], bias: tape.bias[frame], C: tape.C ? tape.C[frame] : data.C }
  return data.alpha ? { alpha: data.alpha, bias: data.bias, C: data.C } : null
}

function unroll(tape, n) {
  const alphas = []
  tape.step.forEach((_, t) => {
    const fresh = t === 0 || tape.stage[t] !== tape.stage[t - 1]
    const alpha = fresh ? new Array(n).fill(0) : alphas[t - 1].slice()
    tape.changed[t].forEach((i, k) => { alpha[i] = tape.alpha[t][k] })
    alphas.push(alpha)
  })
  return { ...tape, alphas, events: tape.C && eventsOf(tape.C, alphas) }
}

const number = (value) => {
  const size = Math.abs(value)
  return size === 0 ? "0" : size < 0.001 ? value.toExponential(0) : String(+value.toPrecision(2))
}
const signed = (value) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(value && Math.abs(value) < 0.1 ? 4 : 2)
const many = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`

function nameOf(play, i) {
  const [, , , parent, copy] = play.data.examples[i]
  return copy ? `${parent}′` : String(i)
}

function moved(play, t) {
  const { tape, data } = play
  const [i, j] = tape.pair[t]
  const change = [i, j].map((k) => tape.alphas[t][k] - tape.alphas[t - 1][k])
  const by = number(Math.abs(change[0]))
  const [a, b] = [nameOf(play, i), nameOf(play, j)]
  if (change[0] > 0 === change[1] > 0) return `alpha ${a} and ${b} ${change[0] > 0 ? "grow" : "shrink"} by ${by}`
  return change[0] > 0 ? `alpha ${a} grows and ${b} shrinks by ${by}` : `alpha ${b} grows and ${a} shrinks by ${by}`
}

// The examples that entered the working set of a round
function enteredIn({ tape, frame }) {
  if (!tape?.inside) return []
  const before = new Set(frame ? tape.inside[frame - 1] : [])
  return tape.inside[frame].filter((i) => !before.has(i))
}

function sentenceOfRound(play) {
  const { tape, frame, data } = play, rounds = tape.step.length - 1, set = tape.inside[frame].length
  if (!frame) return `Round 0 of ${rounds}: a working set of ${set} of ${data.examples.length} points. No machine yet.`
  const worst = frame > 1 ? ` ${many(enteredIn(play).length, "point")} entered.` : ""
  const last = frame === rounds ? " No pair of points violates: this is the trained machine." : ` The worst pair of all points violates by ${number(tape.gap[frame])}.`
  return `Round ${frame} of ${rounds}:${worst} Working set of ${set}, ${many(tape.alphas[frame].filter((a) => a > 0).length, "support vector")}.${last}`
}

function sentence(play) {
  const { tape, frame, data } = play
  if (data.along === "rounds") return tape ? sentenceOfRound(play) : "Play the rounds of a decomposition: a few points are solved, and the worst violators among the others join them."
  if (data.along === "C") return tape ? sentenceOfPath(play) : "Growing C: one machine for each C, from 0.01 to 10,000."
  if (!tape) return "Play the solver's own steps: pair after pair, from no support vector to this machine."
  const stage = tape.stage[frame], total = tape.steps[stage].toLocaleString("en"), step = tape.step[frame].toLocaleString("en")
  const which = tape.steps.length > 1 ? (stage ? ", with copies" : ", first machine") : ""
  const machine = machineNow(play)
  const wrong = data.points.filter(([x, y, s]) => valueAt(play, machine, x, y) * s <= 0).length
  const now = `${many(machine.alpha.filter((a) => a > 0).length, "support vector")}, ${wrong} wrong`
  if (tape.step[frame] === 0) {
    const begin = stage ? "The virtual copies are added. Every alpha is 0 again." : "Every alpha is 0."
    return `Step 0 of ${total}${which}: ${begin}`
  }
  const last = frame === tape.trained ? " This is the trained machine." : ""
  if (!tape.pair[frame].length) {
    const gone = tape.step[frame] - (frame && tape.stage[frame - 1] === stage ? tape.step[frame - 1] : 0)
    return `Step ${step} of ${total}${which}: ${gone} pairs at once; the worst violation left is ${number(tape.gap[frame])}; ${now}.${last}`
  }
  const [i, j] = tape.pair[frame].map((k) => nameOf(play, k))
  return `Step ${step} of ${total}${which}: pair ${i}, ${j} violates by ${number(tape.violation[frame])}; ${moved(play, frame)}; ${now}.${last}`
}

function drawTape(play) {
  const { parts, tape, frame, data, bar } = play
  bar.draw()
  const words = sentence(play)
  parts.sentence.textContent = play.opening ? "Loading the steps …" : words
  bar.slider.setAttribute("aria-valuetext", words)
  const ready = Boolean(data.alpha)
  for (const node of bar.node.children) node.disabled = !ready
  for (const [name, node] of Object.entries(parts.along)) {
    node.setAttribute("aria-pressed", name === data.along)
    node.disabled = !ready
  }
  drawPath(play)
  play.root.dataset.frame = tape ? frame : ""
}

function goTo(play, frame, tell) {
  if (!play.tape) return open(play, frame)
  play.frame = Math.min(Math.max(frame, 0), play.tape.step.length - 1)
  drawMachine(play)
  drawTape(play)
  if (tell) later(play)
}

// The address follows once the hand rests: no server trip for a frame.
function later(play) {
  clearTimeout(play.telling)
  play.telling = setTimeout(() => {
    play.told = play.frame
    play.send("tape", { step: play.frame, along: play.data.along })
  }, 700)
}

function open(play, frame) {
  if (!play.data.alpha || play.opening) return
  play.opening = true
  play.wanted = frame
  drawTape(play)
  play.send("tape", { step: frame, along: play.data.along })
}

// Another tape: the path opens at the trained machine, the steps are opened by Play.
function choose(play, along) {
  if (along === play.data.along) return
  clearTimeout(play.telling)
  play.bar.halt()
  play.send("tape", { step: -1, along })
}

// Edits

function near(play, x, y, pixels) {
  const reach = (pixels * 2 * HALF) / play.size
  let best = -1, least = reach
  play.data.points.forEach(([a, b], i) => {
    const apart = Math.hypot(a - x, b - y)
    if (apart < least) { best = i; least = apart }
  })
  return best
}

function without(tokens, i, play, mode) {
  const token = play.data.points[i][3]
  if (/^\d/.test(token)) {
    const flip = `f${token}`
    const rest = tokens.filter((other) => other !== flip)
    if (mode === "flip") return rest.length < tokens.length ? rest : [...rest, flip]
    return rest.includes(`x${token}`) ? rest : [...rest, `x${token}`]
  }
  const rest = tokens.filter((other) => other !== token)
  return mode === "flip" ? [...rest, (token[0] === "b" ? "o" : "b") + token.slice(1)] : rest
}

function tokenAt(place, letter) {
  return letter + place.map((value) => String(Math.round(100 * Math.min(Math.max(value, -0.97), 0.97)))).join("_")
}

function edit(play, x, y, pixels = NEAR) {
  const hit = near(play, x, y, pixels), mode = play.data.mode
  if (mode === "ask") {
    play.tokens = [...play.tokens.filter((token) => token[0] !== "q"), tokenAt([x, y], "q")]
    return play.say(`${readout(play, x, y)}: ? placed.`)
  }
  if (hit >= 0) {
    play.tokens = without(play.tokens, hit, play, mode)
    play.pending.push([play.data.points[hit][0], play.data.points[hit][1], 0])
    return play.say(mode === "flip" ? `Point ${hit} flipped.` : `Point ${hit} removed.`)
  }
  if (mode !== "blue" && mode !== "orange") return play.say("No point there.")
  const token = tokenAt([x, y], mode[0])
  if (!play.tokens.includes(token)) play.tokens = [...play.tokens, token]
  play.pending.push([x, y, mode === "blue" ? 1 : -1])
  return play.say(`A point added, ${mode}.`)
}

function commit(play, held = false) {
  play.seq += 1
  play.send("points", { text: play.tokens.join("~"), seq: play.seq, held })
  drawMachine(play)
}

// A point that is dragged is at the hand at once; the machine follows as fast as the server answers, one edit at a time.

function placeOf(play, i) { // of example i: training points stand first, in their order
  const { points, examples } = play.data
  return play.drag && i < points.length && play.drag.names.has(points[i][3]) ? play.drag.place : examples[i]
}

function pick(play, i, event) {
  const [x, y, sign, name] = play.data.points[i]
  const rest = play.tokens.filter((token) => token !== name && token !== `f${name}`)
  if (/^\d/.test(name)) rest.push(`x${name}`)
  play.drag = { i, sign, rest, names: new Set([name]), place: [x, y], from: [event.clientX, event.clientY] }
}

function drag(play, place, event) {
  const { rest, names, sign, from, moved } = play.drag
  if (!moved && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4) return
  const name = tokenAt(place, sign > 0 ? "b" : "o")
  if (rest.includes(name)) return // another point is there
  Object.assign(play.drag, { moved: true, late: true, place, tokens: [...rest, name] })
  names.add(name)
  follow(play)
  drawMachine(play)
}

function follow(play) {
  if (!play.drag.late || play.data.seq < play.seq) return
  play.drag.late = false
  play.tokens = play.drag.tokens
  commit(play, true)
}

function drop(play) {
  const { i, moved, tokens, place } = play.drag
  play.drag.dropped = true
  if (moved) {
    play.tokens = tokens
    play.say(`Point ${i} moved to ${place.map((part) => part.toFixed(2)).join(", ")}.`.replace(/-/g, "−"))
  } else {
    play.drag = null
    edit(play, play.data.points[i][0], play.data.points[i][1])
  }
  commit(play)
}

function readout(play, x, y) {
  const machine = machineNow(play)
  const f = machine ? valueAt(play, machine, x, y) : null
  return f === null ? "" : `f = ${signed(f)} at (${x.toFixed(2)}, ${y.toFixed(2)})`.replace(/-/g, "−")
}

function listen(play) {
  const { svg } = play.parts
  const place = (event) => {
    const box = svg.getBoundingClientRect()
    return [-HALF + (2 * HALF * (event.clientX - box.left)) / box.width, HALF - (2 * HALF * (event.clientY - box.top)) / box.height]
  }
  const brush = () => play.data.mode === "flip" || play.data.mode === "erase"
  const reach = (event) => (event.pointerType === "touch" ? 14 : NEAR)
  let painted = null
  const paint = (event) => {
    const hit = near(play, ...place(event), reach(event))
    if (hit < 0 || painted.has(hit)) return
    painted.add(hit)
    play.tokens = without(play.tokens, hit, play, play.data.mode)
    play.pending.push([play.data.points[hit][0], play.data.points[hit][1], 0])
    drawMachine(play)
  }
  svg.addEventListener("pointerdown", (event) => {
    const asks = play.data.mode === "ask"
    play.picked = asks ? -1 : !brush() && (play.drag ? -2 : near(play, ...place(event), reach(event)))
    if (play.picked >= 0) {
      pick(play, play.picked, event)
      svg.setPointerCapture(event.pointerId)
    }
    if (!brush()) return
    painted = new Set()
    svg.setPointerCapture(event.pointerId)
    paint(event)
  })
  svg.addEventListener("pointermove", (event) => {
    if (painted) paint(event)
    if (play.drag && !play.drag.dropped) drag(play, place(event), event)
    play.parts.readout.textContent = readout(play, ...place(event))
  })
  svg.addEventListener("pointerleave", () => { play.parts.readout.textContent = "" })
  svg.addEventListener("pointerup", () => {
    if (painted && painted.size) commit(play)
    painted = null
    if (play.drag && !play.drag.dropped) drop(play)
  })
  svg.addEventListener("pointercancel", () => {
    painted = null
    if (play.drag?.moved && !play.drag.dropped) drop(play)
    else if (!play.drag?.dropped) play.drag = null
  })
  svg.addEventListener("touchstart", (event) => { if (play.picked >= 0) event.preventDefault() }, { passive: false }) // no scrolling
  svg.addEventListener("click", (event) => {
    if (brush() || play.picked !== -1) return
    edit(play, ...place(event), reach(event))
    commit(play)
  })
  svg.addEventListener("focus", () => { play.focused = svg.matches(":focus-visible"); drawCursor(play) })
  svg.addEventListener("blur", () => { play.focused = false; drawCursor(play) })
  svg.addEventListener("keydown", (event) => key(play, event))
}

function key(play, event) {
  const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }
  const name = event.key
  play.focused = true
  play.cursor = play.cursor || [0, 0]
  if (moves[name]) {
    const size = event.shiftKey ? 5 * STEP : STEP
    play.cursor = play.cursor.map((v, k) => Math.min(Math.max(+(v + size * moves[name][k]).toFixed(4), -0.95), 0.95))
    play.say(readout(play, ...play.cursor))
  } else if (name === "n" || name === "N") {
    const n = play.data.points.length
    if (!n) return
    play.visited = ((play.visited ?? (name === "n" ? -1 : n)) + (name === "n" ? 1 : -1) + n) % n
    const [x, y, sign] = play.data.points[play.visited]
    const machine = machineNow(play), alpha = machine ? machine.alpha[play.visited] : 0
    play.cursor = [x, y]
    const held = alpha > 0 ? `, support vector${alpha >= machine.C ? " (bounded)" : ""}, alpha ${number(alpha)}` : ""
    play.say(`Point ${play.visited}, ${sign > 0 ? "blue" : "orange"}${held}; ${readout(play, x, y)}`)
  } else if (name === "Enter" || name === " ") {
    edit(play, ...play.cursor)
    commit(play)
  } else return
  event.preventDefault()
  play.parts.readout.textContent = readout(play, ...play.cursor)
  drawCursor(play)
}

function build(root) {
  const play = { root, rows: [], pending: [], tokens: [], frame: 0, tape: null, cursor: null, size: 500, told: null, seq: 0 }
  const field = document.createElement("div")
  field.className = "field"
  const canvas = document.createElement("canvas")
  const svg = make("svg", { tabindex: "0", role: "application" })
  const lines = make("g"), marks = make("g"), cursor = make("path", { class: "cursor" })
  svg.append(lines, marks, cursor)
  const read = document.createElement("div"), said = document.createElement("p"), words = document.createElement("p")
  read.className = "readout"
  said.className = "said"
  said.setAttribute("aria-live", "polite")
  field.append(canvas, svg, read)
  play.bar = tapeBar({
    count: () => (play.tape ? play.tape.step.length : 0),
    at: () => play.frame,
    go: (frame, byHand) => goTo(play, frame, byHand),
    last: () => (play.data?.along === "C" ? "the largest C" : "the trained machine"),
    open: () => { play.startOnArrival = true; open(play, 0) },
    rested: () => { drawTape(play); later(play) },
  })
  words.className = "sentence"
  const saving = document.createElement("div")
  saving.className = "saving"
  saving.append(saveButton("Save PNG", "Save the plane as PNG", () => savePng(svg, "playground", canvas)))
  const group = document.createElement("div"), beside = document.createElement("div"), chart = make("svg", { class: "path", role: "img" })
  group.className = "along"
  group.setAttribute("role", "group")
  group.setAttribute("aria-label", "Tape of")
  const along = { steps: wordButton("Solver steps", "The steps of the solver, from alpha = 0 to the trained machine"),
    C: wordButton("Growing C", "The regularisation path: one machine for each C"),
    rounds: wordButton("Rounds", "A decomposition: the machine of a small working set, round by round") }
  for (const [name, node] of Object.entries(along)) node.addEventListener("click", () => choose(play, name))
  group.append(...Object.values(along))
  beside.className = "beside"
  beside.append(group, play.bar.node, words, chart)
  const left = document.createElement("div")
  left.className = "left"
  left.append(field, saving)
  const room = document.createElement("div")
  room.className = "room"
  room.append(left, beside)
  root.replaceChildren(room, said)
  play.parts = { canvas, svg, lines, marks, cursor, readout: read, said, sentence: words, along, chart }
  listenToPath(play)
  play.say = (text) => { said.textContent = text }
  root.play = play
  listen(play)
  new ResizeObserver(() => {
    const size = svg.clientWidth
    if (!size || size === play.size) return
    play.size = size
    svg.setAttribute("viewBox", `0 0 ${size} ${size}`)
    if (play.data) drawMachine(play)
  }).observe(svg)
  new ResizeObserver(() => { if (play.data) drawPath(play) }).observe(beside)
  return play
}

function receive(play, data) {
  const known = play.version
  play.data = data
  play.version = data.version
  if (known !== data.version) {
    play.kernel = kernelOf(data.kernel)
    play.rows = []
    play.tape = null
    play.opening = false
    play.bar.halt()
  }
  if (data.seq >= play.seq) { // else more edits are on their way
    play.seq = data.seq
    play.tokens = data.points_text ? data.points_text.split("~") : []
    play.pending = []
    if (play.drag?.dropped) play.drag = null
    if (play.drag) follow(play)
  }
  if (data.tape && !play.tape) {
    play.tape = unroll(data.tape, data.examples.length)
    play.opening = false
    play.frame = Math.min(data.step, play.tape.step.length - 1)
    play.told = data.step
  } else if (data.tape && data.step !== play.told && data.step !== play.serverStep) {
    play.frame = Math.min(data.step, play.tape.step.length - 1) // another address
  } else if (!data.tape) play.tape = null
  play.serverStep = data.step
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".plane")
  const play = root.play || build(root)
  play.send = (name, value) => setTriggerValue(name, value)
  root.classList.toggle("pathed", data.along === "C")
  const drawn = `${data.version} ${data.mode} ${data.step} ${Boolean(data.tape)} ${data.seq} ${data.alt}`
  if (play.drawn === drawn) return
  play.drawn = drawn
  const begun = performance.now()
  receive(play, data)
  play.parts.svg.setAttribute("aria-label", data.alt)
  play.parts.svg.dataset.mode = data.mode
  drawMachine(play)
  drawTape(play)
  root.dataset.took = (performance.now() - begun).toFixed(1) // milliseconds of drawing
  root.dataset.version = data.version
  if (play.tape && play.startOnArrival) {
    play.startOnArrival = false
    play.bar.toggle()
  }
}
