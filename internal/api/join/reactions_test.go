package join_test

// testReactions checks that guests control only their own hand, and hosts all
// hands.
func (p *fixture) testReactions(id, host, guest string) {
	p.t.Helper()
	p.assertNoContent(id, "/hand/raise", withSeatKey(guestKey, nil))
	p.assertNoContent(id, "/hand/raise", withSeatKey(hostKey, nil))
	_, list := p.send(id, "/people", withSeatKey(hostKey, nil))
	hands := map[any]float64{}
	for _, person := range list.People {
		hands[person["identity"]], _ = person["hand"].(float64)
	}
	if hands[guest] == 0 || hands[host] <= hands[guest] {
		p.t.Errorf("got the hands %v, want that of %s first, then %s", hands, guest, host)
	}
	p.assertError(id, "/hand/lower", withSeatKey(guestKey, m{"identity": host}), 403, "not_host")
	p.assertNoContent(id, "/hand/lower", withSeatKey(hostKey, m{"identity": guest}))
	p.assertNoContent(id, "/hand/lower", withSeatKey(guestKey, nil))
	p.assertError(id, "/hand/lower", withSeatKey(hostKey, m{"identity": "nobody"}), 404, "seat_not_found")
	p.assertNoContent(id, "/hands/lower", withSeatKey(hostKey, nil))
	for _, reaction := range []string{"thumbs_up", "heart", "laughing", "clapping"} {
		p.assertNoContent(id, "/react", withSeatKey(guestKey, m{"reaction": reaction}))
	}
	for _, path := range []string{"/react", "/hand/raise"} {
		p.assertError(id, path, withSeatKey(guestKey, roomRoutes[path]), 429, "too_often")
	}
}
