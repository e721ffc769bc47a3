// The regularisation path: one machine at each C of a series, and what changes from one to the next.
//
//   alpha_i / C, support vectors (free, bounded), margin 2 / |w|, errors        against log C, with the frame's cursor

const NONE = 0, FREE = 1, BOUNDED = 2
const BECOMES = {
  [NONE]: ["is no longer a support vector", "are no longer support vectors"],
  [FREE]: ["becomes a free support vector", "become free support vectors"],
  [BOUNDED]: ["becomes bounded", "become bounded"],
}
const NAMED = 4 // points that a sentence names of one kind
const STRIP = { left: 52, right: 8, gap: 26, foot: 24 } // pixels around and between the strips of the chart

const costText = (C) => (+C.toPrecision(3)).toLocaleString("en")
const kindOf = (alpha, C) => (alpha <= 0 ? NONE : alpha >= C ? BOUNDED : FREE)

// For each frame the examples that are of another kind than in the frame before: {i, to}
function eventsOf(C, alphas) {
  return alphas.map((alpha, t) => (t === 0 ? [] : alpha.flatMap((a, i) => {
    const to = kindOf(a, C[t])
    return to === kindOf(alphas[t - 1][i], C[t - 1]) ? [] : [{ i, to }]
  })))
}

function eventWords(play) {
  const { tape, frame } = play
  const clauses = [FREE, BOUNDED, NONE].map((to) => {
    const names = tape.events[frame].filter((event) => event.to === to).map(({ i }) => nameOf(play, i))
    if (!names.length) return ""
    const more = names.length - NAMED
    const list = more > 0 ? `${names.slice(0, NAMED).join(", ")} and ${more} more` : names.join(", ")
    return names.length === 1 ? `point ${list} ${BECOMES[to][0]}` : `points ${list} ${BECOMES[to][1]}`
  }).filter(Boolean)
  const text = clauses.join("; ")
  return text && `${text[0].toUpperCase()}${text.slice(1)}. `
}

function sentenceOfPath(play) {
  const { tape, frame } = play
  const kinds = tape.alphas[frame].map((a) => kindOf(a, tape.C[frame]))
  const bounded = kinds.filter((kind) => kind === BOUNDED).length, free = kinds.filter((kind) => kind === FREE).length
  const margin = tape.margin[frame] === null ? "" : `margin ${number(tape.margin[frame])}, ` // none of an indefinite kernel
  const now = `${many(free + bounded, "support vector")} (${free} free, ${bounded} bounded), ${margin}${many(tape.wrong[frame], "error")}.`
  const trained = frame === tape.trained ? " This is the C of the trained machine." : ""
  return `C = ${costText(tape.C[frame])}: ${eventWords(play)}${now[0].toUpperCase()}${now.slice(1)}${trained}`
}

// The strips: title, height, series [values, class, colour], least and most, and how numbers stand at the axis
function stripsOf(play) {
  const { tape, data } = play
  const count = (kind) => tape.alphas.map((alpha, t) => alpha.filter((a) => kindOf(a, tape.C[t]) === kind).length)
  const free = count(FREE), bounded = count(BOUNDED)
  const shares = data.examples.flatMap(([, , label], i) => {
    const values = tape.alphas.map((alpha, t) => alpha[i] / tape.C[t])
    return values.some((value) => value > 0) ? [[values, "share", COLOUR[label]]] : []
  })
  const ends = (values) => [Math.min(...values), Math.max(...values)]
  const [least, widest] = ends(tape.margin), wide = !tape.margin.includes(null)
  return [
    { title: "alpha / C of each point", height: 84, series: shares, from: 0, to: 1 },
    { title: "Support vectors: free (solid), bounded (dashed)", height: 60, series: [[free, "solid"], [bounded, "dashed"]], from: 0, to: Math.max(...free, ...bounded, 1) },
    wide && { title: "Margin 2 / |w|", height: 44, series: [[tape.margin.map(Math.log10), "solid"]], from: Math.log10(least), to: Math.log10(widest), label: (v) => number(10 ** v) },
    { title: `Errors on ${many(data.points.length, "point")}`, height: 44, series: [[tape.wrong, "solid"]], from: 0, to: Math.max(...tape.wrong, 1) },
  ].filter(Boolean)
}

const atCost = (play, width, C) => {
  const { tape } = play, first = Math.log10(tape.C[0]), last = Math.log10(tape.C[tape.C.length - 1])
  return STRIP.left + ((Math.log10(C) - first) / (last - first)) * (width - STRIP.left - STRIP.right)
}

function drawPath(play) {
  const { tape, parts, data } = play, { chart } = parts
  const shown = alongOf(play) === "C" && data.machines.length === 1
  chart.style.display = shown ? "block" : "none"
  chart.style.opacity = tape ? 1 : 0.4 // while a point is dragged
  const width = Math.round(chart.clientWidth)
  if (!shown || !tape?.C || !width) return
  const drawn = `${data.version} ${width}`
  if (chart.dataset.drawn !== drawn) {
    chart.dataset.drawn = drawn
    drawStrips(play, width)
  }
  const x = atCost(play, width, tape.C[play.frame])
  for (const [name, value] of Object.entries({ x1: x, x2: x })) play.pathCursor.setAttribute(name, value)
}

function drawStrips(play, width) {
  const { tape, parts } = play, { chart } = parts
  const marks = [], x = tape.C.map((C) => atCost(play, width, C))
  const text = (value, left, top, more = {}) => marks.push(make("text", { x: left, y: top, ...more }, value))
  const strips = stripsOf(play)
  let top = 0
  for (const { title, height, series, from, to, label = number } of strips) {
    text(title, STRIP.left, top + 16)
    top += STRIP.gap
    const y = (value) => top + height - ((value - from) / (to - from || 1)) * height
    for (const end of [from, to]) {
      marks.push(make("line", { x1: STRIP.left, x2: width - STRIP.right, y1: y(end), y2: y(end), class: "rule" }))
      text(label(end), STRIP.left - 6, y(end) + 4, { "text-anchor": "end" })
    }
    for (const [values, kind, colour = "currentColor"] of series) {
      marks.push(make("path", { d: `M${values.map((value, t) => `${x[t].toFixed(1)} ${y(value).toFixed(1)}`).join("L")}`, class: kind, stroke: colour }))
    }
    top += height
  }
  text("C", STRIP.left - 6, top + 18, { "text-anchor": "end" })
  for (let power = -2; power <= 4; power += width < 520 ? 2 : 1) {
    const anchor = { [-2]: "start", 4: "end" }[power] || "middle"
    text((10 ** power).toLocaleString("en"), atCost(play, width, 10 ** power), top + 18, { "text-anchor": anchor })
  }
  play.pathCursor = make("line", { y1: 6, y2: top, class: "now" })
  chart.replaceChildren(...marks, play.pathCursor)
  chart.setAttribute("viewBox", `0 0 ${width} ${top + STRIP.foot}`)
  chart.style.height = `${top + STRIP.foot}px`
  const last = tape.C.length - 1, sv = (t) => tape.alphas[t].filter((a) => a > 0).length
  chart.setAttribute("aria-label", `Path of ${last + 1} machines, C from ${costText(tape.C[0])} to ${costText(tape.C[last])}: ` +
    `${sv(0)} to ${sv(last)} support vectors, ` +
    (tape.margin.includes(null) ? "" : `margin ${number(tape.margin[0])} to ${number(tape.margin[last])}, `) +
    `${tape.wrong[0]} to ${tape.wrong[last]} errors. The slider moves the cursor.`)
}

function listenToPath(play) {
  const { chart } = play.parts
  const follow = (event) => {
    if (!play.tape?.C) return
    const box = chart.getBoundingClientRect(), x = event.clientX - box.left
    let nearest = 0
    play.tape.C.forEach((C, t) => {
      if (Math.abs(atCost(play, box.width, C) - x) < Math.abs(atCost(play, box.width, play.tape.C[nearest]) - x)) nearest = t
    })
    if (play.bar.timer) play.bar.pause()
    goTo(play, nearest, true)
  }
  chart.addEventListener("pointerdown", (event) => { chart.setPointerCapture(event.pointerId); follow(event) })
  chart.addEventListener("pointermove", (event) => { if (event.buttons) follow(event) })
}
