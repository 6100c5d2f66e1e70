package usage

import (
	"math/big"
	"strings"
)

// Minutes is a duration in hundredths of a minute.
type Minutes int64

// minutesFromMillis converts milliseconds to minutes, rounded half up to the
// nearest hundredth.
func minutesFromMillis(ms int64) Minutes { return Minutes((ms + 300) / 600) }

// Float returns m as a number with at most two decimal places.
func (m Minutes) Float() float64 { return float64(m) / 100 }

// Amount returns price × m exactly, with at least two decimal places and without
// further trailing zeros. The price is a decimal such as "0.004". Nothing is
// rounded, so that clients can compute the same amount from price and minutes.
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
