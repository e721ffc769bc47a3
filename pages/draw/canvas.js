// Strokes on a canvas of side x side units. What is drawn is sent at the end of each stroke, and taken over from the
// page only when its edition changes: a stroke drawn while the page is still at work is never lost.

const KEYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
const INK = "#1f2024"
const CURSOR = "#0072b2"

function build(root) {
  const board = element("canvas"), tools = element("div", "tools"), pen = element("input")
  board.tabIndex = 0
  board.setAttribute("role", "application")
  pen.type = "range"
  pen.title = "Width of the pen"
  pen.setAttribute("aria-label", "Width of the pen")
  const at = { board, pen, strokes: [], open: null, cursor: null, down: false, edition: null }
  const undo = button("", "Undo", () => { at.strokes.pop(); settle(root) }, "Undo the last stroke (Ctrl+Z)", true)
  const clear = button("", "Clear", () => { at.strokes = []; settle(root) }, "Delete all strokes", true)
  const width = element("span", "", "Pen")
  width.setAttribute("aria-hidden", "true")
  tools.append(undo, clear, width, pen)
  root.replaceChildren(board, tools)
  root.draw = at
  listen(root)
}

function place(at, event) {
  const box = at.board.getBoundingClientRect()
  const most = at.data.side - 1
  const whole = (share) => Math.min(most, Math.max(0, Math.round(share * most)))
  return [whole((event.clientX - box.left) / box.width), whole((event.clientY - box.top) / box.height)]
}

function room(at) {
  const numbers = at.strokes.reduce((sum, stroke) => sum + stroke.length, 0)
  return at.strokes.length < at.data.mostStrokes && numbers < at.data.mostNumbers - 2
}

function extend(at, point) {
  const line = at.open
  if (!room(at) || (line.at(-2) === point[0] && line.at(-1) === point[1])) return
  line.push(...point)
}

function begin(at, point) {
  at.open = [...point]
  at.strokes.push(at.open)
}

function settle(root) {
  const at = root.draw
  at.open = null
  paint(at)
  at.send({ strokes: at.strokes, pen: +at.pen.value })
}

function listen(root) {
  const at = root.draw
  const { board } = at
  board.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || at.open || !room(at)) return
    event.preventDefault()
    board.focus({ preventScroll: true })
    board.setPointerCapture(event.pointerId)
    at.cursor = null
    at.down = false
    at.pointer = event.pointerId
    begin(at, place(at, event))
    paint(at)
  })
  board.addEventListener("pointermove", (event) => {
    if (!at.open || event.pointerId !== at.pointer) return
    for (const step of event.getCoalescedEvents?.() ?? [event]) extend(at, place(at, step))
    extend(at, place(at, event))
    paint(at)
  })
  for (const end of ["pointerup", "pointercancel"]) {
    board.addEventListener(end, (event) => {
      if (at.open && event.pointerId === at.pointer) settle(root)
    })
  }
  at.pen.addEventListener("input", () => paint(at))
  at.pen.addEventListener("change", () => settle(root))
  board.addEventListener("keydown", (event) => byKey(root, event))
  board.addEventListener("blur", () => { at.cursor = null; paint(at) })
  new ResizeObserver(() => paint(at)).observe(board)
}

function byKey(root, event) {
  const at = root.draw
  if ((event.ctrlKey || event.metaKey) && event.key === "z") {
    event.preventDefault()
    at.strokes.pop()
    return settle(root)
  }
  const move = KEYS[event.key]
  if (!move && event.key !== " ") return
  event.preventDefault()
  const { side } = at.data
  at.cursor ??= [side / 2, side / 4]
  if (move) {
    const far = event.shiftKey ? 2 : 8
    at.cursor = at.cursor.map((value, i) => Math.min(side - 1, Math.max(0, value + far * move[i])))
    if (at.down) extend(at, at.cursor)
  } else if (at.down) {
    at.down = false
    return settle(root)
  } else if (room(at)) {
    at.down = true
    begin(at, at.cursor)
  }
  paint(at)
}

function paint(at) {
  if (!at.data) return
  const { board, data } = at
  const size = Math.max(1, Math.round(board.clientWidth * (window.devicePixelRatio || 1)))
  if (board.width !== size) board.width = board.height = size
  const pencil = board.getContext("2d")
  const scale = size / data.side
  pencil.setTransform(scale, 0, 0, scale, scale / 2, scale / 2)
  pencil.clearRect(-1, -1, data.side + 1, data.side + 1) // the paper is the style sheet's
  pencil.strokeStyle = INK
  pencil.lineWidth = +at.pen.value
  pencil.lineCap = pencil.lineJoin = "round"
  for (const line of at.strokes) {
    pencil.beginPath()
    pencil.moveTo(line[0], line[1])
    for (let i = 0; i < line.length; i += 2) pencil.lineTo(line[i], line[i + 1])
    pencil.stroke()
  }
  if (!at.cursor) return
  const [x, y] = at.cursor
  pencil.strokeStyle = CURSOR
  pencil.lineWidth = at.down ? 5 : 2
  pencil.beginPath()
  pencil.moveTo(x - 9, y)
  pencil.lineTo(x + 9, y)
  pencil.moveTo(x, y - 9)
  pencil.lineTo(x, y + 9)
  pencil.stroke()
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".draw")
  if (!root.draw) build(root)
  const at = root.draw
  at.data = data
  at.send = (value) => setTriggerValue("drawn", value)
  at.board.setAttribute("aria-label", data.alt)
  at.pen.min = data.thinnest
  at.pen.max = data.thickest
  if (at.edition !== data.edition) {
    at.edition = data.edition
    at.strokes = data.strokes.map((line) => [...line])
    at.open = null
    at.pen.value = data.pen
  }
  paint(at)
}
