// Common to scripts that cut pictures out of a montage (gallery.sheet); they follow below.

const BLUE = "#0072B2"
const ORANGE = "#D55E00"

function picture(data, i) {
  const { width, height, scale, columns } = data
  const node = element("div", "picture")
  node.style.width = `${width * scale}px`
  node.style.height = `${height * scale}px`
  node.style.backgroundSize = `${columns * width * scale}px auto`
  node.style.backgroundPosition = `${-(i % columns) * width * scale}px ${-Math.floor(i / columns) * height * scale}px`
  return node
}

