# Sets the credentials of the project that the first start of a server creates: `. ../env.sh`
export PARLEY_DATA_DIR="${PARLEY_DATA_DIR:-../../data}"
setting() { sed -n "s/^ *\"$1\": \"\(.*\)\",*$/\1/p" "$PARLEY_DATA_DIR/quickstart.json"; }
export PARLEY_URL="$(setting base_url)"
export PARLEY_PROJECT_ID="$(setting project_id)"
export PARLEY_PROJECT_SECRET="$(setting project_secret)"
export PARLEY_API_KEY="$(setting api_key)"
export PARLEY_GATEWAY_SECRET="$(setting gateway_secret)"
