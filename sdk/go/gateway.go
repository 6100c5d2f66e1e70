package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Availability says whether data is available.
type Availability string

// The values of Availability.
const (
	Available   Availability = "available"
	Unavailable Availability = "unavailable"
)

// GatewayMeta contains the headers of every version 5 response.
type GatewayMeta struct {
	// RequestID identifies the request. It may be shared with support.
	RequestID string `json:"-"`
	// RequestsUsed is the number of the organization's validly signed version 5
	// calls on this day (UTC), including this one. It is not a quota. Nil while it
	// is unavailable.
	RequestsUsed *int64 `json:"-"`
}

func gatewayMeta(header http.Header) GatewayMeta {
	meta := GatewayMeta{RequestID: requestID(header)}
	if used, err := strconv.ParseInt(header.Get("X-Gateway-Requests-Used"), 10, 64); err == nil && used >= 0 {
		meta.RequestsUsed = &used
	}
	return meta
}

// Keys are the API keys of the project.
type Keys struct {
	Current CurrentKey `json:"current"`
	// Overlap is the previous key during the overlap of a rotation; nil otherwise.
	Overlap *OverlapKey `json:"overlap"`
	GatewayMeta
}

// CurrentKey is the current API key.
type CurrentKey struct {
	ID string `json:"id"`
	// APIKey is masked: its prefix and five more characters, … and its last four.
	APIKey string `json:"api_key"`
	// Status is "active".
	Status         string    `json:"status"`
	SigningProfile string    `json:"signing_profile"`
	CreatedAt      time.Time `json:"created_at"`
	// LastUsedAt is the time of the last authenticated call of any version with the
	// key; nil before the first one.
	LastUsedAt *time.Time `json:"last_used_at"`
}

// OverlapKey is the previous API key, which works until OverlapEndsAt.
type OverlapKey struct {
	ID     string `json:"id"`
	APIKey string `json:"api_key"`
	// Status is "retiring".
	Status        string    `json:"status"`
	RetiringSince time.Time `json:"retiring_since"`
	// OverlapEndsAt is when the key stops working.
	OverlapEndsAt time.Time  `json:"overlap_ends_at"`
	LastUsedAt    *time.Time `json:"last_used_at"`
	// RequestsSinceRotation is the number of authenticated calls of any version with
	// the key since the rotation. If it grows, a client still uses the key.
	RequestsSinceRotation int64 `json:"requests_since_rotation"`
}

// Keys reads the API keys of the project. Secrets are never shown.
func (c *Client) Keys(ctx context.Context) (*Keys, error) {
	keys := new(Keys)
	meta, err := c.getV5(ctx, "/api/v5/keys", keys)
	if err != nil {
		return nil, err
	}
	keys.GatewayMeta = meta
	return keys, nil
}

// Usage is the usage of an organization, without its test projects, or of a test project in the
// current calendar month (UTC).
type Usage struct {
	OrganizationID string `json:"organization_id"`
	// Test says that this is the usage of a test project, which costs nothing.
	Test bool `json:"test"`
	// BillingModel is "plan" or "payg".
	BillingModel string      `json:"billing_model"`
	Period       UsagePeriod `json:"period"`
	AsOf         time.Time   `json:"as_of"`
	Totals       UsageTotals `json:"totals"`
	Plan         PlanUsage   `json:"plan"`
	// PayAsYouGo is nil for organizations with a plan.
	PayAsYouGo *PayAsYouGo `json:"pay_as_you_go"`
	GatewayMeta
}

// UsagePeriod is a period from Start (inclusive) to End (exclusive).
type UsagePeriod struct {
	Start time.Time `json:"start"`
	End   time.Time `json:"end"`
}

// UsageTotals are the totals. Minutes are the
// exact seconds divided by 60, to two decimals.
type UsageTotals struct {
	ParticipantMinutes         float64 `json:"participant_minutes"`
	AudioParticipantMinutes    float64 `json:"audio_participant_minutes"`
	VideoParticipantMinutes    float64 `json:"video_participant_minutes"`
	RoomsCreated               int64   `json:"rooms_created"`
	Sessions                   int64   `json:"sessions"`
	PeakConcurrentParticipants int64   `json:"peak_concurrent_participants"`
}

// PlanUsage compares usage with the plan. Only Availability is set if the plan is
// unknown.
type PlanUsage struct {
	Availability     Availability `json:"availability"`
	Name             string       `json:"name"`
	IncludedMinutes  *Figure      `json:"included_minutes"`
	UsedMinutes      *Figure      `json:"used_minutes"`
	RemainingMinutes *Figure      `json:"remaining_minutes"`
}

// Figure is a number of participant minutes, if it is available.
type Figure struct {
	Availability Availability `json:"availability"`
	// Value is nil if it is unavailable.
	Value *float64 `json:"value"`
}

// PayAsYouGo is the price of the usage. Only Availability is set while there is no
// price.
type PayAsYouGo struct {
	Availability Availability `json:"availability"`
	// Currency is an ISO 4217 code.
	Currency string `json:"currency"`
	// Unit is "participant_minute".
	Unit string `json:"unit"`
	// UnitPrice and AmountDue are exact decimal numbers, such as "0.0042".
	UnitPrice string `json:"unit_price"`
	AmountDue string `json:"amount_due"`
}

// Usage reads the usage of the organization, or of the test project if the key is of one.
func (c *Client) Usage(ctx context.Context) (*Usage, error) {
	usage := new(Usage)
	meta, err := c.getV5(ctx, "/api/v5/usage", usage)
	if err != nil {
		return nil, err
	}
	usage.GatewayMeta = meta
	return usage, nil
}

// Limits are the entitlements of the organization.
type Limits struct {
	// Availability is Unavailable if the plan is unknown. Entitlements is then
	// empty, which does not mean unlimited.
	Availability Availability  `json:"availability"`
	Entitlements []Entitlement `json:"entitlements"`
	GatewayMeta
}

// Entitlement is one limit.
type Entitlement struct {
	// Key is "max_participants", "room_duration" or "breakout_rooms".
	Key   string `json:"key"`
	Value int64  `json:"value"`
	// Unit is "participants", "minutes" or "rooms".
	Unit string `json:"unit"`
	// Scope is "room".
	Scope string `json:"scope"`
	// Source is "plan:" and the plan's name.
	Source       string       `json:"source"`
	Availability Availability `json:"availability"`
}

// Limits reads the entitlements of the organization.
func (c *Client) Limits(ctx context.Context) (*Limits, error) {
	limits := new(Limits)
	meta, err := c.getV5(ctx, "/api/v5/limits", limits)
	if err != nil {
		return nil, err
	}
	limits.GatewayMeta = meta
	return limits, nil
}

// OpenAPI reads the machine-readable description of a version, 3 to 5: YAML for 3
// and 4, JSON for 5. It is public and needs no credentials.
func (c *Client) OpenAPI(ctx context.Context, version int) ([]byte, error) {
	target := fmt.Sprintf("/api/v%d/openapi.yaml", version)
	switch version {
	case 3, 4:
	case 5:
		target = "/api/v5/openapi.json"
	default:
		return nil, fmt.Errorf("%w: the version must be 3, 4 or 5, but is %d", ErrInvalidArgument, version)
	}
	return c.document(ctx, &request{method: http.MethodGet, target: target, repeatable: true})
}

// getV5 sends a signed request to version 5 and decodes the data of the response.
func (c *Client) getV5(ctx context.Context, target string, into any) (GatewayMeta, error) {
	if err := c.credentials.checkGatewayCredentials(); err != nil {
		return GatewayMeta{}, err
	}
	var envelope struct {
		Data json.RawMessage `json:"data"`
	}
	header, err := c.call(ctx, &request{
		method:        http.MethodGet,
		target:        target,
		gatewaySigned: true,
		repeatable:    true,
	}, &envelope)
	if err != nil {
		return GatewayMeta{}, err
	}
	if len(envelope.Data) == 0 || string(envelope.Data) == "null" {
		return GatewayMeta{}, fmt.Errorf("%w: data is missing", ErrUnexpectedResponse)
	}
	if err := decode(envelope.Data, into); err != nil {
		return GatewayMeta{}, err
	}
	return gatewayMeta(header), nil
}
