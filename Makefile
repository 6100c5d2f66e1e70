# Everything Parley is built, run and tested with. `make` lists what there is.

export CGO_ENABLED := 0
# The same flags for all, so that tests use what the build has compiled.
export GOFLAGS := $(shell go env GOFLAGS) -trimpath

# Tests choose the settings of their servers, so those of the user must not reach them.
ifneq ($(filter test% race fuzz soak,$(MAKECMDGOALS)),)
unexport $(filter PARLEY_%,$(.VARIABLES))
endif

WEB := web/node_modules/.installed
BROWSER := test/browser/node_modules/.installed
WEBHOOKS := test/webhooks/node_modules/.installed
POSTMAN := test/postman/node_modules/.installed
TYPESCRIPT := sdk/typescript/node_modules/.installed
SDKS := web/dist/app/docs/sdk/php/packages.json
SDK_SOURCES := $(shell find sdk -type f -not -path '*/node_modules/*' -not -path 'sdk/typescript/dist/*' -not -path 'sdk/typescript/build/*' -not -path '*/__pycache__/*' 2>/dev/null)
PAGE := web/dist/app/index.html
PAGE_SOURCES := $(shell find web/src web/embed web/docs web/console web/build web/public docs/api sdk/testdata/vectors.json CHANGELOG.md web/index.html web/*.ts web/package.json -type f 2>/dev/null) $(wildcard internal/api/*/openapi.yaml)

# Only make test-all tests these.
SLOW_PACKAGES := ^parley/test/(cluster|deploy|hostile|fulldisk)$$

.DEFAULT_GOAL := help
.PHONY: help run dev build npm-packages test test-all test-setup test-setup-all test-go test-go-all test-sdk test-web test-browser test-browser-all race fuzz soak release lint lint-slow fmt gen bench clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 16

run: build ## Build everything and run it, with two rooms to try
	bin/parley serve --demo

dev: $(PAGE) ## Serve the page from its sources, and restart the server when its code changes
	@mkdir -p bin && test/dev.sh

build: $(PAGE) $(SDKS) ## Build bin/parley with the room page inside
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

$(POSTMAN): test/postman/package-lock.json
	cd test/postman && npm ci --no-audit --no-fund
	touch $@

$(TYPESCRIPT): sdk/typescript/package-lock.json
	cd sdk/typescript && npm ci --no-audit --no-fund
	touch $@

$(PAGE): $(WEB) $(PAGE_SOURCES)
	cd web && npm run build
	touch $@

# After the page, whose build empties the directory above.
$(SDKS): $(PAGE) $(TYPESCRIPT) $(SDK_SOURCES)
	go run ./sdk/packages

npm-packages: $(WEB) $(BROWSER) $(WEBHOOKS) $(TYPESCRIPT)

test: ## Install what the tests need and test what people do (about 12 minutes on two cores)
	@test/run.sh test-setup lint test-web build test-go test-browser

test-all: ## Run every test: also all views, pictures, network faults, clusters, attacks, data races
	@test/run.sh test-setup-all lint lint-slow test-web build test-go-all test-sdk test-browser-all race

test-setup: ## Install what the tests need (as root, from Debian)
	test/setup.sh

test-setup-all: ## Install what make test-all needs
	test/setup.sh all

test-web: $(PAGE) ## Test the room page's code and its size
	cd web && npm test

test-go: $(PAGE) $(SDKS) $(WEBHOOKS) ## Test the server, with a real PostgreSQL and real participants
	test/go.sh go -short -- $$(go list ./... | grep -vE '$(SLOW_PACKAGES)')
	MODULE=sdk/go test/go.sh sdk

test-go-all: $(PAGE) $(SDKS) $(WEBHOOKS) $(POSTMAN) $(BROWSER) ## Test the server, also what takes long
	test/go.sh go
	MODULE=sdk/go test/go.sh sdk
	MODULE=test/acme test/go.sh acme
	MODULE=test/openid test/go.sh openid
	MODULE=test/metrics test/go.sh metrics
	MODULE=release test/go.sh release

test-sdk: $(TYPESCRIPT) ## Test each SDK alone, with the web frameworks that it works with
	cd sdk/typescript && npm test
	cd sdk/python && /usr/bin/python3 -W error::ResourceWarning -m unittest discover -q
	php sdk/php/tests/run.php

test-browser: build $(BROWSER) ## Test in a real browser what people do in a meeting
	cd test/browser && npm test -- --project journeys

test-browser-all: build $(BROWSER) ## Test the meeting in a real browser in every state
	cd test/browser && MEETINGS=$${MEETINGS:-100000} npm test -- --project journeys --project states

race: $(PAGE) ## Look for data races in the packages with the most concurrency (needs a C compiler)
	CGO_ENABLED=1 test/go.sh race -race -short -- ./internal/counter ./internal/ratelimit ./internal/cluster \
		./internal/key ./internal/webhook/... ./internal/room ./internal/db ./internal/store \
		./internal/audit ./internal/backup ./internal/retention ./internal/edge ./internal/connlimit \
		./internal/media/relay ./internal/certificate ./internal/supervise

fuzz: ## Fuzz every parser, ten seconds each
	test/fuzz.sh

soak: $(PAGE) ## Attack a running server from outside for DURATION (default 1h)
	SOAK_DURATION=$(or $(DURATION),1h) go test -v -count 1 -timeout 3h -run '^TestFuzz$$' ./test/hostile

lint: $(PAGE) $(TYPESCRIPT) $(BROWSER) ## Check formatting, types, vet, staticcheck, Biome, go.mod and generated code
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); echo 'run gofmt -w on these'; exit 1; }
	test/generated.sh
	cd web && npm run lint && npm run typecheck
	cd test/browser && npm run typecheck
	cd sdk/typescript && npx tsc --noEmit
	go mod tidy -diff
	go vet ./...
	go tool staticcheck ./...
	cd sdk/go && go vet ./... && $$(cd ../.. && go tool -n staticcheck) ./... && go mod tidy -diff

lint-slow: ## Check the modules that only make test-all tests
	cd release && go vet ./... && $$(cd .. && go tool -n staticcheck) ./... && go mod tidy -diff
	cd test/acme && go vet ./... && $$(cd ../.. && go tool -n staticcheck) ./... && go mod tidy -diff
	cd test/metrics && go vet ./... && $$(cd ../.. && go tool -n staticcheck) ./... && go mod tidy -diff
	cd test/openid && go vet ./... && $$(cd ../.. && go tool -n staticcheck) ./... && go mod tidy -diff

fmt: $(WEB) ## Format Go and TypeScript as lint checks them
	gofmt -w $$(git ls-files '*.go')
	cd web && npm run format

gen: $(WEB) $(TYPESCRIPT) ## Generate code from the openapi.yaml files
	go generate ./internal/api/...
	cd web && npm run gen
	cd sdk/typescript && npm run gen

bench: build $(BROWSER) ## Measure against a bare handler, a bare page and the goals; ONLY=growth measures a part, with flags in ARGS
ifdef ONLY
	go run ./test/bench -only $(ONLY) $(ARGS)
else
	go run ./test/bench
	cd test/browser && GOALS=1 MEETINGS=100000 npm test -- --project states --retry 0 \
		network-faults.test.ts scheduled-room.test.ts waiting-room.test.ts audio-room.test.ts cluster.test.ts \
		console-requests.test.ts
	GOALS=1 go test -count=1 -v -run TestNodes_Rolled ./test/cluster
endif

release: ## Build the files of a release into dist/, in a clean checkout of its tag (SNAPSHOT=1: of any commit)
	rm -rf dist web/dist/app
	$(MAKE) build
	cd release && go run . -source .. -out ../dist $(if $(SNAPSHOT),-snapshot)

clean: ## Remove what was built
	rm -rf bin dist web/dist/app web/node_modules test/browser/node_modules test/webhooks/node_modules test/postman/node_modules \
		sdk/typescript/node_modules sdk/typescript/dist test/artefacts
