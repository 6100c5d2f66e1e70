package project

import (
	"math"
	"strconv"
	"strings"

	"parley/internal/fault"
	"parley/internal/validate"
)

// The room page shows the brand color on this background in light mode, and white
// text on the brand color. In dark mode it lightens the color. It is the token
// --surface of web/src/styles/tokens.css.
const pageBackground = "#f5f4f0"

// minContrast is the lowest contrast of text that WCAG 2.2 allows (level AA, 1.4.3).
const minContrast = 4.5

// checkBrandColor returns Invalid unless the color is empty or a color such as
// "#1f5f8b" that can be read on the page.
func checkBrandColor(color string) error {
	if color == "" {
		return nil
	}
	light, ok := luminance(color)
	if !ok {
		return fault.Invalidf(`brand_color must be a color such as "#1f5f8b", not %q`, validate.Truncate(color, 20))
	}
	background, _ := luminance(pageBackground)
	if contrast := (max(background, light) + 0.05) / (min(background, light) + 0.05); contrast < minContrast {
		return fault.Invalidf("brand_color must have a contrast of at least %.1f to the page (%s), not %.1f: "+
			"choose a darker color", minContrast, pageBackground, math.Floor(contrast*10)/10)
	}
	return nil
}

// luminance returns the relative luminance of a color such as "#1f5f8b", as WCAG
// defines it: 0 for black, 1 for white.
func luminance(color string) (l float64, ok bool) {
	digits, hasHash := strings.CutPrefix(color, "#")
	rgb, err := strconv.ParseUint(digits, 16, 32)
	if !hasHash || len(digits) != 6 || err != nil {
		return 0, false
	}
	channel := func(shift int) float64 {
		c := float64(rgb>>shift&0xff) / 255
		if c <= 0.04045 {
			return c / 12.92
		}
		return math.Pow((c+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(16) + 0.7152*channel(8) + 0.0722*channel(0), true
}
