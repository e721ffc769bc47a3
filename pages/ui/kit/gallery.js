// Cuts the tiles of a gallery out of its montage. Text is set as text, never as markup.

const GREY = "color-mix(in srgb, var(--st-text-color) 60%, var(--st-background-color))"
const COLOURS = { "1": BLUE, "-1": ORANGE, "0": GREY }
const PATIENCE = 20000 // milliseconds until a view that a tile asked for is there

function strip(left, right) {
  const node = element("div", "strip")
  node.append(element("span", "", left), element("span", "", right))
  return node
}

function tileButton(data, i, strips) {
  const tile = data.tiles[i]
  const node = button("tile", "", null, tile.label)
  node.dataset.ring = tile.ring
  node.dataset.linked = tile.linked
  node.dataset.ticked = Boolean(tile.note)
  node.dataset.ref = tile.ref
  node.style.setProperty("--sign", COLOURS[tile.sign])
  node.disabled = !tile.ref
  node.tabIndex = -1
  node.dataset.empty = !tile.label // an empty cell of a grid
  if (strips.above) node.append(strip(tile.note || (tile.cross ? "✕" : ""), tile.upper))
  node.append(picture(data, i))
  if (strips.below) node.append(strip(tile.lower, ""))
  return node
}

function rows(data) {
  const strips = {
    above: data.tiles.some((tile) => tile.upper || tile.cross || tile.note),
    below: data.tiles.some((tile) => tile.lower),
  }
  const ringed = data.tiles.some((tile) => tile.ring)
  const buttons = data.tiles.map((_, i) => tileButton(data, i, strips))
  const perRow = Math.ceil(buttons.length / Math.max(1, data.rows.length))
  return (data.rows.length ? data.rows : [""]).map((label, r) => {
    const flow = element("div", ringed ? "flow ringed" : "flow")
    flow.append(...buttons.slice(r * perRow, (r + 1) * perRow))
    if (!label) return flow
    const row = element("div", "row")
    row.append(element("div", "row-label", label), flow)
    return row
  })
}

// When the view that a tile opened is closed, the focus is at the tile again.
function comeBack(root, ref) {
  const view = () => document.querySelector("[role=dialog]")
  if (view()) return // the gallery is within it
  let open = false
  const watch = new MutationObserver(() => {
    if (!open) open = Boolean(view())
    else if (!view()) {
      watch.disconnect()
      root.back = ref
      refocus(root)
      setTimeout(() => refocus(root), 100) // after whoever opened the view has given the focus back
      setTimeout(() => { root.back = "" }, 3000)
    }
  })
  watch.observe(document.body, { childList: true, subtree: true })
  setTimeout(() => { if (!open) watch.disconnect() }, PATIENCE)
}

function refocus(root) {
  const held = document.activeElement
  const elsewhere = held && held !== document.body && !held.contains(root.getRootNode().host) && held.matches("input, textarea, button, a")
  if (!root.back || !root.isConnected || elsewhere) return
  stops(root).find((node) => node.dataset.ref === root.back)?.focus()
}

// Runs again after every script run: buttons are rebuilt only when something changed, or a click in between were lost.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".gallery")
  if (!root.stopped) rove(root, ".tile:enabled, .save")
  root.onclick = (event) => {
    const tile = event.target.closest("button.tile")
    if (!tile?.dataset.ref) return
    comeBack(root, tile.dataset.ref)
    setTriggerValue("picked", tile.dataset.ref)
  }
  const drawn = JSON.stringify(data)
  if (root.drawn !== drawn) {
    root.drawn = drawn
    const held = root.getRootNode().activeElement
    const [ref, at] = [held?.dataset?.ref, stops(root).indexOf(held)]
    root.setAttribute("aria-label", data.alt)
    root.dataset.ink = data.ink
    root.classList.toggle("linked", data.tiles.some((tile) => tile.linked))
    root.style.setProperty("--sheet", `url(${data.sheet})`)
    const saving = element("div", "saving")
    if (data.sheet) saving.append(saveButton("Save PNG", "Save these pictures as PNG", () => saveGallery(root, data)))
    root.replaceChildren(...rows(data), saving)
    const all = stops(root)
    const stop = all.find((node) => ref && node.dataset.ref === ref) ?? all[Math.max(0, at)] ?? all[0]
    if (stop) setStop(root, stop)
    if (at >= 0) stop?.focus()
  }
  refocus(root)
}
