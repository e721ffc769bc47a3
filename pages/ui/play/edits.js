// What the reader does in the plane. Points are edited by tokens ("b12_-40", "x17", "f3"; see setting.py): the browser
// holds their text until the server has the same. Drawing on points that stay as they are ("line", "rings") is sent as
// numbers: two places, or which points.

const NEAR = 9 // screen pixels from which a click means a point
const STEP = 0.05 // of the cursor, by an arrow key
const EDGE = 0.97 // of a place's coordinates
const LETTERS = { b: 1, o: -1, g: 2 } // of a point's token -> its label
const letterOf = (label) => NAME[label][0]
const adds = ({ data }) => data.mode in ADDED
const ADDED = Object.fromEntries(Object.entries(NAME).map(([label, name]) => [name, +label]))
const brushes = ({ data }) => data.mode === "flip" || data.mode === "erase"

function near(play, x, y, pixels) {
  const reach = (pixels * 2 * HALF) / play.size
  let best = -1, least = reach
  play.data.points.forEach(([a, b], i) => {
    const apart = Math.hypot(a - x, b - y)
    if (apart < least) { best = i; least = apart }
  })
  return best
}

// The tokens without a point, or with it flipped to the next colour
function without(tokens, i, play, mode) {
  const token = play.data.points[i][3], { classes } = play.data
  if (/^\d/.test(token)) {
    if (mode !== "flip") return tokens.includes(`x${token}`) ? tokens : [...tokens.filter((other) => other !== `f${token}`), `x${token}`]
    const flips = [...tokens.filter((other) => other === `f${token}`), `f${token}`]
    return [...tokens.filter((other) => other !== `f${token}`), ...(flips.length < classes ? flips : [])]
  }
  const rest = tokens.filter((other) => other !== token), letters = Object.keys(LETTERS)
  return mode === "flip" ? [...rest, letters[(letters.indexOf(token[0]) + 1) % classes] + token.slice(1)] : rest
}

function tokenAt(place, letter) {
  return letter + place.map((value) => String(Math.round(100 * value))).join("_")
}

function edit(play, x, y, pixels = NEAR) {
  const { mode } = play.data
  if (mode === "line") {
    play.sketch = [...(play.sketch.length === 2 ? play.sketch : []), x, y].map((part) => +part.toFixed(3))
    return play.say(`${play.sketch.length === 2 ? "First" : "Second"} place of the line: ${placeText([x, y])}.`)
  }
  const hit = near(play, x, y, mode === "rings" ? 40 : pixels)
  if (mode === "rings" && hit >= 0) {
    const had = play.sketch.includes(hit)
    play.sketch = had ? play.sketch.filter((one) => one !== hit) : [...play.sketch, hit]
    return play.say(`Point ${hit} ${had ? "is no longer ringed" : "ringed"}.`)
  }
  if (mode === "ask") {
    play.tokens = [...play.tokens.filter((token) => token[0] !== "q"), tokenAt([x, y], "q")]
    return play.say(`${readout(play, x, y)}: ? placed.`)
  }
  if (hit >= 0) {
    remove(play, hit)
    return play.say(mode === "flip" ? `Point ${hit} flipped.` : `Point ${hit} removed.`)
  }
  if (!adds(play)) return play.say("No point there.")
  const token = tokenAt([x, y], mode[0])
  if (!play.tokens.includes(token)) play.tokens = [...play.tokens, token]
  play.pending.push([x, y, ADDED[mode]])
  return play.say(`A point added, ${mode}.`)
}

function remove(play, hit) {
  play.tokens = without(play.tokens, hit, play, play.data.mode)
  play.pending.push([play.data.points[hit][0], play.data.points[hit][1], 0])
}

function commit(play, held = false) {
  if (play.data.mode === "line" || play.data.mode === "rings") {
    if (play.sketch.length !== 2 || play.data.mode === "rings") play.send("sketch", play.sketch)
  } else {
    play.seq += 1
    play.send("points", { text: play.tokens.join("~"), seq: play.seq, held })
  }
  drawMachine(play)
}

const placeText = (place) => place.map((part) => part.toFixed(2)).join(", ").replace(/-/g, "−")

// A point that is dragged is at the hand at once; the machine follows as fast as the server answers, one edit at a time.

function placeOf(play, i) { // of example i: training points stand first, in their order
  const { points, examples } = play.data
  return play.drag && i < points.length && play.drag.names.has(points[i][3]) ? play.drag.place : examples[i]
}

function pick(play, i, event) {
  const [x, y, label, name] = play.data.points[i]
  const rest = play.tokens.filter((token) => token !== name && token !== `f${name}`)
  if (/^\d/.test(name)) rest.push(`x${name}`)
  play.drag = { i, label, rest, names: new Set([name]), place: [x, y], from: [event.clientX, event.clientY] }
}

function drag(play, place, event) {
  const { rest, names, label, from, moved } = play.drag
  if (!moved && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4) return
  const name = tokenAt(place, letterOf(label))
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
    play.say(`Point ${i} moved to ${placeText(place)}.`)
  } else {
    play.drag = null
    edit(play, play.data.points[i][0], play.data.points[i][1])
  }
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
    const hit = near(play, ...place(event), reach(event))
    if (hit < 0 || painted.has(hit)) return
    painted.add(hit)
    remove(play, hit)
    drawMachine(play)
  }
  svg.addEventListener("pointerdown", (event) => {
    play.picked = !adds(play) ? -1 : play.drag ? -2 : near(play, ...place(event), reach(event))
    if (play.picked >= 0) {
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
    if (play.drag && !play.drag.dropped) drag(play, place(event), event)
    play.parts.readout.textContent = readout(play, ...place(event))
  })
  svg.addEventListener("pointerleave", () => { play.parts.readout.textContent = "" })
  svg.addEventListener("pointerup", () => {
    if (painted?.size) {
      play.say(`${many(painted.size, "point")} ${play.data.mode === "flip" ? "flipped" : "removed"}.`)
      commit(play)
    }
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
    if (brushes(play) || !play.data.mode || play.picked !== -1) return
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
  } else if ((name === "Enter" || name === " ") && play.data.mode) {
    edit(play, ...play.cursor)
    commit(play)
  } else return
  event.preventDefault()
  play.parts.readout.textContent = readout(play, ...play.cursor)
  drawCursor(play)
}

