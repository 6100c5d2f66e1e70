package usage

import (
	"math/big"
	"strings"
)

// Minutes are hundredths of a minute.
type Minutes int64

// minutesFromMillis turns milliseconds into minutes, rounded to the nearest hundredth,
// a half upwards.
func minutesFromMillis(ms int64) Minutes { return Minutes((ms + 300) / 600) }

// Float returns m as a number, whose shortest decimal form has at most two
// digits behind the point.
func (m Minutes) Float() float64 { return float64(m) / 100 }

// Amount returns price × m exactly, with at least two digits behind the point
// and no further zeros. The price is a decimal such as "0.004". No rounding
// takes place: who sees the price and the minutes can work the amount out.
func Amount(price string, m Minutes) string {
	whole, fraction, _ := strings.Cut(price, ".")
	product, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok {
		return ""
	}
	product.Mul(product, big.NewInt(int64(m)))
	scale := len(fraction) + 2 // minutes are hundredths
	text := product.String()
	if missing := scale + 1 - len(text); missing > 0 {
		text = strings.Repeat("0", missing) + text
	}
	point := len(text) - scale
	fraction = strings.TrimRight(text[point:], "0")
	for len(fraction) < 2 {
		fraction += "0"
	}
	return text[:point] + "." + fraction
}
