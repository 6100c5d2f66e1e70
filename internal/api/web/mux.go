package web

import (
	"net/http"
	"slices"
	"strings"
)

// Mux routes the requests of one API and answers for the paths and methods it
// does not have in that API's own words. It satisfies the interface that
// generated code registers its operations with.
type Mux struct {
	mux     *http.ServeMux
	methods map[string][]string // path → methods
	allowed func(w http.ResponseWriter, r *http.Request)
}

// NewMux returns an empty Mux. notFound answers for unknown paths, notAllowed
// for known ones asked with another method; Allow is set by then.
func NewMux(notFound, notAllowed http.HandlerFunc) *Mux {
	m := &Mux{mux: http.NewServeMux(), methods: map[string][]string{}, allowed: notAllowed}
	m.mux.HandleFunc("/", notFound)
	return m
}

// HandleFunc registers "METHOD /path".
func (m *Mux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	method, path, _ := strings.Cut(pattern, " ")
	if len(m.methods[path]) == 0 {
		m.mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			allow := slices.Sorted(slices.Values(m.methods[path]))
			w.Header().Set("Allow", strings.Join(allow, ", "))
			m.allowed(w, r)
		})
	}
	m.methods[path] = append(m.methods[path], method)
	if method == http.MethodGet {
		m.methods[path] = append(m.methods[path], http.MethodHead)
	}
	m.mux.HandleFunc(pattern, handler)
}

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) { m.mux.ServeHTTP(w, r) }
