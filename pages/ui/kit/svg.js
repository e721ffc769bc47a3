// Common to scripts that draw in SVG; they follow below. Text is set as text, never as markup.

const SVG = "http://www.w3.org/2000/svg"

function make(name, attributes = {}, text) {
  const node = document.createElementNS(SVG, name)
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value)
  if (text !== undefined) node.textContent = text
  return node
}

// A sign for a button, 16 units a side: drawn, not written, as not every machine has a font with these signs.
function icon(shape, size, turned = "") {
  const picture = make("svg", { viewBox: "0 0 16 16", width: size, height: size, "aria-hidden": "true" })
  picture.append(make("path", { d: shape, fill: "currentColor", ...(turned && { transform: turned }) }))
  return picture
}
