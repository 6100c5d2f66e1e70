# Everything Parley is built, run and tested with. `make` lists what there is.

export CGO_ENABLED := 0
# The same flags for all, so that tests use what the build has compiled.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

WEB := web/node_modules/.installed
BROWSER := test/browser/node_modules/.installed
WEBHOOKS := test/webhooks/node_modules/.installed
PAGE := web/dist/app/index.html
PAGE_SOURCES := $(shell find web/src web/docs web/build web/public docs/api client/testdata/vectors.json web/index.html web/*.ts web/package.json -type f 2>/dev/null) internal/api/join/openapi.yaml

.DEFAULT_GOAL := help
.PHONY: help run build test test-setup test-go test-web test-browser race fuzz soak lint gen bench clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: build ## Build everything and run it, with two rooms to try
	bin/parley serve --demo

build: $(PAGE) ## Build bin/parley with the room page inside
	go build -buildvcs=auto -ldflags "-s -w" -o bin/parley ./cmd/parley

$(WEB): web/package-lock.json
	cd web && npm ci --no-audit --no-fund
	touch $@

$(BROWSER): test/browser/package-lock.json
	cd test/browser && npm ci --no-audit --no-fund
	touch $@

$(WEBHOOKS): test/webhooks/package-lock.json
	cd test/webhooks && npm ci --no-audit --no-fund
	touch $@

$(PAGE): $(WEB) $(PAGE_SOURCES)
	cd web && npm run build
	touch $@

test: test-setup build lint test-web test-go test-browser ## Install what the tests need and run every test

test-setup: ## Install what the tests need (as root, from Debian)
	test/setup.sh

test-web: $(PAGE) ## Test the room page's code and its size
	cd web && npm run typecheck && npm test

test-go: $(PAGE) $(WEBHOOKS) ## Test the server, with a real PostgreSQL and real participants
	go test -timeout 10m ./...

test-browser: build $(BROWSER) ## Test the meeting in a real browser
	@rm -f test/artefacts/failed.txt
	cd test/browser && npm test || { cat ../artefacts/failed.txt 2>/dev/null; exit 1; }

race: $(PAGE) ## Look for data races in the packages with the most concurrency (needs a C compiler)
	CGO_ENABLED=1 go test -race -timeout 20m -parallel 2 ./internal/counter ./internal/ratelimit ./internal/cluster \
		./internal/key ./internal/webhook/... ./internal/room ./internal/db ./internal/store

fuzz: ## Fuzz every parser, ten seconds each
	test/fuzz.sh

soak: $(PAGE) ## Attack a running server from outside for DURATION (default 1h)
	SOAK_DURATION=$(or $(DURATION),1h) go test -v -count 1 -timeout 3h -run '^TestFuzz$$' ./test/hostile

lint: $(PAGE) gen ## Check formatting, vet, staticcheck, Biome, go.mod and generated code
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	cd web && npm run lint
	go mod tidy -diff
	git diff --exit-code --stat -- '*gen.go' '*.gen.ts'

gen: $(WEB) ## Generate code from the openapi.yaml files
	go generate ./internal/api/...
	cd web && npm run gen

bench: build $(BROWSER) ## Measure against a bare handler, a bare page and the goals, all in this run
	go run ./test/bench

clean: ## Remove what was built
	rm -rf bin web/dist/app web/node_modules test/browser/node_modules test/webhooks/node_modules test/artefacts
