// Common to scripts whose picture can be saved; they follow below. Nothing leaves the browser.

function download(blob, name) {
  const link = element("a")
  link.href = URL.createObjectURL(blob)
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}

function saveButton(text, label, act) {
  return button("save", text, (event) => { event.stopPropagation(); act() }, label)
}

// Any CSS colour as #rrggbb, which every program that opens an SVG understands.
const dot = document.createElement("canvas").getContext("2d", { willReadFrequently: true })
function plainColour(colour) {
  dot.clearRect(0, 0, 1, 1)
  dot.fillStyle = colour
  dot.fillRect(0, 0, 1, 1)
  const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data
  return a ? `#${[r, g, b].map((part) => part.toString(16).padStart(2, "0")).join("")}` : "none"
}

function pageColour(node) {
  return getComputedStyle(node).getPropertyValue("--st-background-color").trim() || "#ffffff"
}

const KEPT = ["stroke-width", "stroke-dasharray", "vector-effect", "font-size", "font-weight", "font-family", "text-anchor", "dominant-baseline", "opacity"]

// The text of an SVG that looks by itself as it looks on the page. ground: whether the page lies below it.
function svgText(svg, ground = true) {
  const copy = svg.cloneNode(true)
  const [from, to] = [svg, copy].map((root) => [...root.querySelectorAll("rect, circle, text, path, line, polygon")])
  from.forEach((node, i) => {
    const style = getComputedStyle(node)
    for (const name of ["fill", "stroke"]) to[i].setAttribute(name, style[name] === "none" ? "none" : plainColour(style[name]))
    for (const name of KEPT) to[i].setAttribute(name, style.getPropertyValue(name))
  })
  for (const node of copy.querySelectorAll("[style]")) node.removeAttribute("style")
  const { width, height } = svg.viewBox.baseVal
  const page = document.createElementNS(svg.namespaceURI, "rect")
  for (const [name, value] of Object.entries({ width, height, fill: plainColour(pageColour(svg)) })) page.setAttribute(name, value)
  if (ground) copy.prepend(page)
  copy.setAttribute("xmlns", svg.namespaceURI)
  copy.setAttribute("width", width)
  copy.setAttribute("height", height)
  return new XMLSerializer().serializeToString(copy)
}

function saveSvg(svg, name) {
  download(new Blob([svgText(svg)], { type: "image/svg+xml" }), `${name}.svg`)
}

// below: a canvas that lies under the SVG and is as large.
async function savePng(svg, name, below) {
  const image = new Image()
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgText(svg, !below))}`
  await image.decode()
  const canvas = document.createElement("canvas")
  canvas.width = 2 * svg.viewBox.baseVal.width
  canvas.height = 2 * svg.viewBox.baseVal.height
  const pen = canvas.getContext("2d")
  if (below) {
    pen.fillStyle = pageColour(svg)
    pen.fillRect(0, 0, canvas.width, canvas.height)
    if (below.style.visibility !== "hidden") pen.drawImage(below, 0, 0, canvas.width, canvas.height)
  }
  pen.drawImage(image, 0, 0, canvas.width, canvas.height)
  canvas.toBlob((blob) => download(blob, `${name}.png`))
}
