package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
)

// share is the processor time that a browser takes, 1 is one core: the process of the page, and
// all processes.
type share struct{ Renderer, All float64 }

// tiles compares the processor time of the room page while it shows a meeting with that of
// LiveKit's own component and with that of a bare page, which show the same people.
func (b *bench) tiles(ctx context.Context) ([]figure, error) {
	if err := checkBrowser(); err != nil {
		return nil, err
	}
	dirs := map[string]string{}
	for _, name := range []string{"bare", "components"} {
		dirs[name] = filepath.Join(b.dir, name+"-tiles")
		if _, err := b.node(ctx, "build.mjs", name, dirs[name]); err != nil {
			return nil, err
		}
	}
	p, err := b.startParley(ctx, filepath.Join(b.dir, "tiles"), "")
	if err != nil {
		return nil, err
	}
	defer p.quit()
	front, err := servePages(p.Address, dirs)
	if err != nil {
		return nil, err
	}
	defer func() { _ = front.Close() }()
	var figures []figure
	for _, columns := range []int{2, 3} {
		roomID, err := p.createVideoRoom(ctx)
		if err != nil {
			return figures, err
		}
		bare := front.Addr + "/bare/r/" + roomID
		argument, err := json.Marshal(map[string]any{
			"pages": map[string]string{
				"page":       front.Addr + "/r/" + roomID + "#name=Ben",
				"components": front.Addr + "/components/r/" + roomID,
				"bare":       fmt.Sprintf("%s#grid=%d", bare, columns),
			},
			"bare":  bare,
			"tiles": columns * columns,
		})
		if err != nil {
			return figures, err
		}
		out, err := b.node(ctx, "cpu.mjs", string(argument))
		if err != nil {
			return figures, err
		}
		var shares map[string][]share
		if err := json.Unmarshal(out, &shares); err != nil {
			return figures, err
		}
		of := fmt.Sprintf("processor time of a video meeting with %d tiles", columns*columns)
		ours, theirs := shares["page"], shares["components"]
		comment := fmt.Sprintf("%.2f cores, component %.2f, bare page %.2f; all processes %.2f, %.2f, %.2f",
			meanShare(ours).Renderer, meanShare(theirs).Renderer, meanShare(shares["bare"]).Renderer,
			meanShare(ours).All, meanShare(theirs).All, meanShare(shares["bare"]).All)
		figures = append(figures, figure{Of: of, Name: "page, LiveKit's component = 1",
			Value: meanShare(ours).Renderer / meanShare(theirs).Renderer, Comment: comment}.
			atMost(1).withControl(ours[0].Renderer/ours[len(ours)-1].Renderer))
	}
	return figures, p.end()
}

func meanShare(all []share) share {
	var mean share
	for _, s := range all {
		mean.Renderer += s.Renderer / float64(len(all))
		mean.All += s.All / float64(len(all))
	}
	return mean
}
