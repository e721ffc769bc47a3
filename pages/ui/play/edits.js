// What the reader does in the plane. Points are edited by tokens ("b12_-40", "x17", "f3"; see setting.py), which the
// browser alone changes: it also holds which button is pressed and what Undo takes back, and sends the text of all tokens,
// so that no click waits for the answer to the one before. Drawing on points that stay as they are ("line", "rings") is
// sent as numbers: two places, or which points.

const NEAR = 9 // screen pixels from which a click means a point
const STEP = 0.05 // of the cursor, by an arrow key
const EDGE = 0.97 // of a place's coordinates
const MOST_UNDONE = 50
const LETTERS = { b: 1, o: -1, g: 2 } // of a point's token -> its label; a flip leads from one to the next
const LABELS = Object.values(LETTERS)
const letterOf = (label) => NAME[label][0]
const ADDED = Object.fromEntries(Object.entries(NAME).map(([label, name]) => [name, +label]))
const COLOURED = "Click to add a point; click on a point to remove it; drag a point to move it. To duplicate a point, drag another " +
  "point of its colour onto it: the duplicate moves the line only if the point has a double ring (alpha = C)."
const HAND = {
  ...Object.fromEntries(LABELS.map((label) => [NAME[label], [NAME[label][0].toUpperCase() + NAME[label].slice(1), COLOURED]])),
  flip: ["Flip", "A brush: hold the mouse button and paint over points to give them the next colour."],
  erase: ["Erase", "A brush: hold the mouse button and paint over points to remove them."],
  ask: ["?", "Click a place to see its predicted class."],
}

// What a click does: by the button pressed last, or, of a class that draws, by its question
const modeOf = ({ data, mode }) => (data.hand ? (data.hand.includes(mode) ? mode : data.hand[0]) : data.mode)
const adds = (play) => modeOf(play) in ADDED
const brushes = (play) => ["flip", "erase"].includes(modeOf(play))

function buildHand(play) {
  const hand = element("div", "hand"), label = element("span", "", "On click"), group = element("div", "row")
  hand.setAttribute("role", "group")
  hand.setAttribute("aria-label", "On click")
  label.setAttribute("aria-hidden", "true")
  play.buttons = Object.entries(HAND).map(([mode, [text, title]]) => [mode, button(mode in ADDED ? mode : "", text, () => { play.mode = mode; drawHand(play) }, title, true)])
  play.undo = button("", "↶ Undo", () => undo(play), "Undoes the last change of the points (Ctrl+Z).", true)
  play.reset = button("", "Reset", () => reset(play), "Undoes all changes of the points; restores the sample as it was drawn.", true)
  group.append(...play.buttons.map(([, node]) => node), play.undo, play.reset)
  hand.append(label, group)
  return hand
}

function drawHand(play) {
  const { data, parts } = play, now = modeOf(play)
  parts.hand.style.display = data.hand ? "" : "none"
  for (const [mode, node] of play.buttons) {
    node.hidden = !data.hand?.includes(mode)
    node.setAttribute("aria-pressed", mode === now)
  }
  play.undo.disabled = !play.before.length
  play.reset.disabled = !play.tokens.length && !(data.noisy && play.cleared <= data.seq)
  parts.svg.dataset.mode = now
}

// The points as the reader has left them, which the server may not know yet: those of the sample whose places were seen,
// then those added: {x, y, label, token}
function pointsNow({ tokens, known, data }) {
  const added = tokens.filter((token) => token[0] in LETTERS)
  const own = [...known].filter(([token]) => !tokens.includes(`x${token}`)).map(([token, [x, y, label, had]]) => {
    const turns = flipsOf(tokens, token) - had + data.classes
    return { x, y, label: LABELS[(LABELS.indexOf(label) + turns) % data.classes], token }
  })
  return [...own, ...added.map((token) => ({ ...placeFrom(token), label: LETTERS[token[0]], token }))]
}

const flipsOf = (tokens, token) => tokens.filter((other) => other === `f${token}`).length
const isSample = (token) => /^\d/.test(token)

function placeFrom(token) {
  const [x, y] = token.slice(1).split("_").map((part) => part / 100)
  return { x, y }
}

// The server's state, once it has all edits: its points, and the text of their tokens
function agree(play) {
  const { data } = play
  play.seq = data.seq
  play.tokens = data.points_text ? data.points_text.split("~") : []
  play.trails = play.drag ? [play.drag] : []
}

// What Undo takes back outlives the plane, which goes when another page is opened: in this window, for the sample and the
// points as they were left
const kept = (window.svmlabUndo ??= {})
const keep = ({ sample, before }, text) => Object.assign(kept, { sample, before, text })
const beforeOf = ({ sample, points_text }) => (sample === kept.sample && points_text === kept.text ? kept.before : [])

// The places of the sample's points; of another sample, what was done to the one before is no more
function learn(play) {
  const { data } = play, tokens = data.points_text.split("~")
  if (play.sample !== data.sample) Object.assign(play, { sample: data.sample, known: new Map(), before: beforeOf(data) })
  for (const [x, y, label, token] of data.points) if (isSample(token)) play.known.set(token, [x, y, label, flipsOf(tokens, token)])
}

function near(play, x, y, pixels) {
  const reach = (pixels * 2 * HALF) / play.size
  let best = null, least = reach
  for (const point of pointsNow(play)) {
    const apart = Math.hypot(point.x - x, point.y - y)
    if (apart < least) { best = point; least = apart }
  }
  return best
}

const indexOf = (play, { token }) => play.data.points.findIndex((point) => point[3] === token)
const called = (play, point) => (indexOf(play, point) < 0 ? "A point" : `Point ${indexOf(play, point)}`)

function tokenAt(place, letter) {
  return letter + place.map((value) => String(Math.round(100 * value))).join("_")
}

function become(play, tokens, goesOn = false) {
  if (!goesOn) play.before = [...play.before, play.tokens].slice(-MOST_UNDONE)
  play.tokens = tokens
}

// The tokens without a point, which may leave a token that says so
function without({ tokens }, { token }) {
  const rest = tokens.filter((other) => other !== token && other !== `f${token}`)
  return isSample(token) ? [...rest, `x${token}`] : rest
}

function flipped(play, point) {
  const { tokens, data: { classes } } = play, { token } = point
  if (isSample(token)) {
    const rest = tokens.filter((other) => other !== `f${token}`), flips = flipsOf(tokens, token) + 1
    return flips < classes ? [...rest, ...Array(flips).fill(`f${token}`)] : rest
  }
  const rest = without(play, point), letters = Object.keys(LETTERS)
  const turned = letters[(letters.indexOf(token[0]) + 1) % classes] + token.slice(1)
  return rest.includes(turned) ? rest : [...rest, turned]
}

function edit(play, x, y, pixels = NEAR) {
  const mode = modeOf(play)
  if (mode === "line") {
    play.sketch = [...(play.sketch.length === 2 ? play.sketch : []), x, y].map((part) => +part.toFixed(3))
    return play.say(`${play.sketch.length === 2 ? "First" : "Second"} place of the line: ${placeText([x, y])}.`)
  }
  const hit = near(play, x, y, mode === "rings" ? 40 : pixels)
  if (mode === "rings" && hit) {
    const i = indexOf(play, hit), had = play.sketch.includes(i)
    play.sketch = had ? play.sketch.filter((one) => one !== i) : [...play.sketch, i]
    return play.say(`Point ${i} ${had ? "is no longer ringed" : "ringed"}.`)
  }
  if (mode === "ask") {
    become(play, [...play.tokens.filter((token) => token[0] !== "q"), tokenAt([x, y], "q")])
    return play.say(`${readout(play, x, y)}: ? placed.`)
  }
  if (hit) return touch(play, hit)
  if (!adds(play)) return play.say("There is no point here.")
  const token = tokenAt([x, y], mode[0])
  if (!play.tokens.includes(token)) become(play, [...play.tokens, token])
  return play.say(`Added a point: ${mode}.`)
}

// Removes a point, or flips it
function touch(play, hit, goesOn = false) {
  const flips = modeOf(play) === "flip"
  play.say(`${called(play, hit)} ${flips ? "flipped" : "removed"}.`)
  become(play, flips ? flipped(play, hit) : without(play, hit), goesOn)
}

function undo(play) {
  if (!play.before.length) return
  play.tokens = play.before.pop()
  play.say("Undone.")
  commit(play)
}

function reset(play) {
  if (play.tokens.length) become(play, [])
  play.cleared = play.seq + 1 // by this edit no label is noisy any more
  play.say("The sample is restored.")
  commit(play)
}

function commit(play, held = false) {
  if (play.data.kind) {
    if (play.sketch.length !== 2 || play.data.kind === "rings") play.send("sketch", play.sketch)
  } else {
    play.seq += 1
    const { seq, sample } = play, text = play.tokens.join("~")
    keep(play, text)
    play.send("points", { text, seq, held, sample, clean: play.cleared > play.data.seq })
  }
  drawHand(play)
  drawMachine(play)
}

const placeText = (place) => place.map((part) => part.toFixed(2)).join(", ").replace(/-/g, "−")

// A point that is dragged is at the hand at once; the machine follows as fast as the server answers, one edit at a time.

function placeOf(play, i) { // of example i: training points stand first, in their order
  const { points, examples } = play.data
  const trail = i < points.length && play.trails.find(({ names }) => names.has(points[i][3]))
  return trail ? trail.place : examples[i]
}

function pick(play, point, event) {
  const { x, y, label, token } = point
  play.drag = { label, rest: without(play, point), names: new Set([token]), place: [x, y], from: [event.clientX, event.clientY] }
}

function drag(play, place, event) {
  const { rest, names, label, from, moved } = play.drag
  if (!moved && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4) return
  const name = tokenAt(place, letterOf(label))
  if (rest.includes(name)) return // another point is there
  if (!moved) play.trails.push(play.drag)
  become(play, [...rest, name], moved)
  Object.assign(play.drag, { moved: true, late: true, place, tokens: play.tokens })
  names.add(name)
  follow(play)
  drawMachine(play)
}

function follow(play) {
  if (!play.drag.late || play.data.seq < play.seq) return
  play.drag.late = false
  play.tokens = play.drag.tokens // the server's may be of a place before
  commit(play, true)
}

function drop(play) {
  const { moved, place, tokens } = play.drag
  play.drag = null
  if (moved) {
    play.tokens = tokens
    play.say(`The point moved to ${placeText(place)}.`)
  } else edit(play, ...place)
  commit(play)
}

function readout(play, x, y) {
  const machines = machinesNow(play)
  if (!machines.length) return ""
  const { label, f } = verdictAt(play, machines, x, y), which = machines.length > 1 ? `${NAME[label]}, ` : ""
  return `${which}f = ${signed(f)} at (${placeText([x, y])})`
}

function listen(play) {
  const { svg } = play.parts
  const place = (event) => {
    const box = svg.getBoundingClientRect()
    const shares = [(event.clientX - box.left) / box.width, (box.bottom - event.clientY) / box.height]
    return shares.map((share) => Math.min(Math.max((2 * share - 1) * HALF, -EDGE), EDGE))
  }
  const reach = (event) => (event.pointerType === "touch" ? 14 : NEAR)
  let painted = null
  const paint = (event) => {
    const hit = near(play, ...place(event), reach(event)), at = hit && `${hit.x} ${hit.y}`
    if (!hit || painted.has(at)) return
    touch(play, hit, painted.size > 0)
    painted.add(at)
    drawMachine(play)
  }
  svg.addEventListener("pointerdown", (event) => {
    play.picked = adds(play) ? near(play, ...place(event), reach(event)) : null
    if (play.picked) {
      pick(play, play.picked, event)
      svg.setPointerCapture(event.pointerId)
    }
    if (!brushes(play)) return
    painted = new Set()
    svg.setPointerCapture(event.pointerId)
    paint(event)
  })
  svg.addEventListener("pointermove", (event) => {
    if (painted) paint(event)
    if (play.drag) drag(play, place(event), event)
    play.parts.readout.textContent = readout(play, ...place(event))
  })
  svg.addEventListener("pointerleave", () => { play.parts.readout.textContent = "" })
  svg.addEventListener("pointerup", () => {
    if (painted?.size) {
      play.say(`${many(painted.size, "point")} ${modeOf(play) === "flip" ? "flipped" : "removed"}.`)
      commit(play)
    }
    painted = null
    if (play.drag) drop(play)
  })
  svg.addEventListener("pointercancel", () => {
    painted = null
    if (play.drag?.moved) drop(play)
    play.drag = null
  })
  svg.addEventListener("touchstart", (event) => { if (play.picked) event.preventDefault() }, { passive: false }) // no scrolling
  svg.addEventListener("click", (event) => {
    if (brushes(play) || !modeOf(play) || play.picked) return
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
    const [x, y, label] = play.data.points[play.visited], machines = machinesNow(play)
    play.cursor = [x, y]
    const held = machines.filter(({ alpha }) => alpha[play.visited] > 0).map(({ alpha, C, sign }) => {
      const value = alpha[play.visited], whose = machines.length > 1 ? ` of ${NAME[sign]}` : ""
      return `, support vector${whose}${value >= C ? " (bounded)" : ""}, alpha ${number(value)}`
    })
    play.say([`Point ${play.visited}, ${NAME[label]}${held.join("")}`, readout(play, x, y)].filter(Boolean).join("; "))
  } else if ((name === "Enter" || name === " ") && modeOf(play)) {
    edit(play, ...play.cursor)
    commit(play)
  } else if (name === "z" && (event.ctrlKey || event.metaKey) && play.data.hand) {
    undo(play)
  } else return
  event.preventDefault()
  play.parts.readout.textContent = readout(play, ...play.cursor)
  drawCursor(play)
}

