// Cuts the tiles of a gallery out of its montage. Text is set as text, never as markup.

const COLOURS = { "1": "#0072B2", "-1": "#D55E00", "0": "#8A8F98" }

function strip(left, right) {
  const node = element("div", "strip")
  node.append(element("span", "", left), element("span", "", right))
  return node
}

function tileButton(data, i, strips) {
  const tile = data.tiles[i]
  const node = element("button", "tile")
  node.type = "button"
  node.title = tile.label
  node.setAttribute("aria-label", tile.label)
  node.dataset.ring = tile.ring
  node.dataset.linked = tile.linked
  node.dataset.ref = tile.ref
  node.style.setProperty("--sign", COLOURS[tile.sign])
  node.disabled = !tile.ref
  if (!tile.label) node.style.visibility = "hidden" // an empty cell of a grid
  if (strips.above) node.append(strip(tile.cross ? "✕" : "", tile.upper))
  node.append(picture(data, i))
  if (strips.below) node.append(strip(tile.lower, ""))
  return node
}

function rows(data) {
  const strips = {
    above: data.tiles.some((tile) => tile.upper || tile.cross),
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

// Runs again after every script run: buttons are rebuilt only when something changed, or a click in between were lost.
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".gallery")
  root.onclick = (event) => {
    const tile = event.target.closest("button.tile")
    if (tile?.dataset.ref) setTriggerValue("picked", tile.dataset.ref)
  }
  const drawn = JSON.stringify(data)
  if (root.drawn === drawn) return
  root.drawn = drawn
  root.setAttribute("aria-label", data.alt)
  root.style.setProperty("--sheet", `url(${data.sheet})`)
  root.replaceChildren(...rows(data))
}
