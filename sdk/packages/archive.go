package main

import (
	"archive/zip"
	"bytes"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// readTree returns the files of a directory, sorted, with a prefix before their names. It leaves
// out what tools write there.
func readTree(dir, prefix string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "__pycache__" || strings.HasSuffix(name, ".egg-info") {
				return fs.SkipDir
			}
			return nil
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, file{prefix + filepath.ToSlash(name), content})
		return err
	})
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.name, b.name) })
	return files, err
}

// zipEpoch is the date of every file in a zip, the earliest that the format has, so that the bytes do not depend on the
// time of the build: 1980-01-01 in the form of MS-DOS.
const zipEpoch = 1<<5 | 1

// zipped returns a zip archive of the files in their order. They are not compressed, so that the bytes do not depend on
// the version of Go either. Sizes and checksums are before the files, because readers of a stream, such as uv, cannot
// find the end of a file that is not compressed otherwise.
func zipped(files []file) ([]byte, error) {
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, f := range files {
		size := uint64(len(f.content))
		header := &zip.FileHeader{
			Name:          f.name,
			Method:        zip.Store,
			ReaderVersion: zipVersion,
			//lint:ignore SA1019 CreateRaw writes this field, and not Modified
			ModifiedDate:       zipEpoch,
			CRC32:              crc32.ChecksumIEEE(f.content),
			CompressedSize64:   size,
			UncompressedSize64: size,
		}
		header.SetMode(0o644)
		w, err := archive.CreateRaw(header)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return out.Bytes(), err
}

// zipVersion is the version 2.0 of the format, which a reader needs.
const zipVersion = 20
