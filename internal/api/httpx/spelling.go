package httpx

import (
	"mime"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
)

// BearerToken returns the token of the header Authorization, whose scheme Bearer may be
// written in any case and followed by several spaces (RFC 9110, sections 11.1 and 11.4). It
// returns "" if there is no such header, more than one, or one with another scheme.
func BearerToken(r *http.Request) string {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return ""
	}
	scheme, token, _ := strings.Cut(values[0], " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.Trim(token, " ")
}

// AcceptsEncoding reports whether the client accepts a content coding such as gzip, in any
// case, by its name or as *, unless its weight is 0 (RFC 9110, section 12.5.3).
func AcceptsEncoding(r *http.Request, coding string) bool {
	accepted, named := false, false
	for part := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, parameters, _ := strings.Cut(part, ";")
		name = strings.TrimSpace(name)
		exact := strings.EqualFold(name, coding) || strings.EqualFold(name, "x-"+coding)
		if !exact && (name != "*" || named) {
			continue
		}
		named = named || exact
		accepted = weight(parameters) > 0
	}
	return accepted
}

// weight returns the value of the parameter q, 0 to 1; 1 if there is none.
func weight(parameters string) float64 {
	_, values, err := mime.ParseMediaType("x/x;" + parameters)
	if q, ok := values["q"]; err == nil && ok {
		if weight, err := strconv.ParseFloat(q, 64); err == nil {
			return weight
		}
	}
	return 1
}

// parseHop parses an address of X-Forwarded-For: IPv4 or IPv6, with or without brackets and
// a port. Proxies write all of these, because no standard defines the header.
func parseHop(text string) (netip.Addr, error) {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	} else if inner, ok := strings.CutPrefix(text, "["); ok {
		text = strings.TrimSuffix(inner, "]")
	}
	addr, err := netip.ParseAddr(text)
	return addr.Unmap(), err
}
