package main

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"io"
	"testing"
)

// TestZipped_ReadableAsStream reads the sizes where a reader of a stream does: before each file.
func TestZipped_ReadableAsStream(t *testing.T) {
	files := []file{{"a.txt", []byte("first")}, {"b/c.txt", nil}, {"b/d.txt", []byte("third\n")}}
	archive, err := zipped(files)
	if err != nil {
		t.Fatal(err)
	}
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.File) != len(files) {
		t.Fatalf("got %d files, want %d", len(r.File), len(files))
	}
	for i, f := range r.File {
		const afterFile = 1 << 3 // the flag of sizes that come after the file
		if f.Name != files[i].name || f.Method != zip.Store || f.Flags&afterFile != 0 || f.Modified.Year() != 1980 {
			t.Errorf("file %d: got %s, method %d, flags %b, date %s, want %s, stored, the sizes first, 1980", i, f.Name,
				f.Method, f.Flags, f.Modified, files[i].name)
		}
		offset, err := f.DataOffset()
		if err != nil {
			t.Fatal(err)
		}
		// The header has 30 bytes and the name (https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT, 4.3.7).
		header := archive[offset-int64(len(f.Name))-30:]
		size := int(binary.LittleEndian.Uint32(header[22:]))
		if crc := binary.LittleEndian.Uint32(header[14:]); size != len(files[i].content) || crc != f.CRC32 {
			t.Errorf("%s: got %d bytes and checksum %x before it, want %d and %x", f.Name, size, crc,
				len(files[i].content), f.CRC32)
		}
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(content); err != nil || !bytes.Equal(got, files[i].content) { // compares the checksum
			t.Errorf("%s: got %q, %v, want %q", f.Name, got, err, files[i].content)
		}
	}
}
