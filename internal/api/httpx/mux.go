package httpx

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"parley/internal/validate"
)

// Mux routes the requests of one API. For unknown paths and methods it calls
// that API's own handlers, so that the error has the form of that API.
type Mux struct {
	mux        *http.ServeMux
	methods    map[string][]string // path → methods
	notFound   http.HandlerFunc
	notAllowed http.HandlerFunc
}

// NewMux returns an empty Mux. notFound handles unknown paths. notAllowed
// handles known paths with another method; the header Allow is already set.
func NewMux(notFound, notAllowed http.HandlerFunc) *Mux {
	m := &Mux{mux: http.NewServeMux(), methods: map[string][]string{}, notFound: notFound, notAllowed: notAllowed}
	m.mux.HandleFunc("/", notFound)
	return m
}

// HandleFunc registers a handler for a pattern "METHOD /path". GET includes HEAD. A parameter of the path that is a
// UUID has its canonical form in the request of the handler.
func (m *Mux) HandleFunc(pattern string, handler func(http.ResponseWriter, *http.Request)) {
	method, route, _ := strings.Cut(pattern, " ")
	if len(m.methods[route]) == 0 {
		m.mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) {
			allow := slices.Sorted(slices.Values(m.methods[route]))
			w.Header().Set("Allow", strings.Join(allow, ", "))
			m.notAllowed(w, r)
		})
	}
	m.methods[route] = append(m.methods[route], method)
	if method == http.MethodGet {
		m.methods[route] = append(m.methods[route], http.MethodHead)
	}
	names := pathParameters(route)
	m.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		FromContext(r.Context()).Route = route
		for _, name := range names {
			if id, ok := validate.ParseUUID(r.PathValue(name)); ok {
				r.SetPathValue(name, id)
			}
		}
		handler(w, r)
	})
}

// pathParameters returns the names of the parameters in a route, such as room_id.
func pathParameters(route string) (names []string) {
	for part := range strings.SplitSeq(route, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			names = append(names, strings.TrimSuffix(strings.TrimSuffix(name, "}"), "..."))
		}
	}
	return names
}

// Handle registers a handler for each pattern "METHOD /path" of routes.
func (m *Mux) Handle(routes map[string]http.HandlerFunc) {
	for pattern, handler := range routes {
		m.HandleFunc(pattern, handler)
	}
}

// ServeHTTP implements http.Handler.
func (m *Mux) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if path.Clean(r.URL.Path) != r.URL.Path {
		m.notFound(w, r) // because http.ServeMux would redirect, and the signature covers the path
		return
	}
	m.mux.ServeHTTP(w, r)
}

// ReadOnly responds with 405 to methods other than GET and HEAD.
func ReadOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			WriteJSON(w, http.StatusMethodNotAllowed, struct {
				Error string `json:"error"`
			}{"this path takes GET, HEAD, not " + r.Method})
			return
		}
		next.ServeHTTP(w, r)
	})
}
