package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1" // images without a container engine
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageUser is the user and the group of the image.
const imageUser = 65532

// writeImages writes an image for each program that podman and Docker load, and one OCI archive with all of
// them for registries (OCI image layout specification).
func writeImages(programs []program, out string) error {
	version := programs[0].version
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, p := range programs {
		image, err := newImage(p)
		if err != nil {
			return err
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: p.arch}},
		})
		tag, err := name.NewTag("localhost/parley:" + version)
		if err != nil {
			return err
		}
		file := filepath.Join(out, fmt.Sprintf("parley_%s_image_%s.tar", version, p.arch))
		if err := tarball.WriteToFile(file, tag, image); err != nil {
			return err
		}
	}
	// One entry, which is the index of the images, because an archive with several names no image.
	archived := mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), mutate.IndexAddendum{
		Add:        all,
		Descriptor: v1.Descriptor{Annotations: map[string]string{"org.opencontainers.image.ref.name": version}},
	})
	dir, err := os.MkdirTemp("", "parley-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if _, err := layout.Write(dir, archived); err != nil {
		return err
	}
	return archive(dir, filepath.Join(out, fmt.Sprintf("parley_%s_oci.tar", version)), programs[0].time)
}

func newImage(p program) (v1.Image, error) {
	layer, err := newLayer(p)
	if err != nil {
		return nil, err
	}
	image, err := mutate.AppendLayers(mutate.MediaType(empty.Image, types.OCIManifestSchema1), layer)
	if err != nil {
		return nil, err
	}
	image = mutate.ConfigMediaType(image, types.OCIConfigJSON)
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture, config.Created = "linux", p.arch, v1.Time{Time: p.time}
	config.Config = v1.Config{
		Entrypoint:   []string{"/parley"},
		Cmd:          []string{"serve"},
		User:         "65532:65532",
		WorkingDir:   "/data",
		Env:          []string{"PARLEY_DATA_DIR=/data", "PARLEY_LISTEN=:8080"},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "7882/udp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		StopSignal:   "SIGTERM",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "Parley",
			"org.opencontainers.image.version":  p.version,
			"org.opencontainers.image.revision": setting(p.info, "vcs.revision"),
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return mutate.ConfigFile(image, config)
}

// newLayer returns the files of the image: the program, and what it expects of a system. The program has
// the certificates of the authorities in it.
func newLayer(p program) (v1.Layer, error) {
	content, err := os.ReadFile(p.file)
	if err != nil {
		return nil, err
	}
	var files bytes.Buffer
	w := tar.NewWriter(&files)
	add := func(h tar.Header, content []byte) {
		h.ModTime, h.Size = p.time, int64(len(content))
		if err == nil {
			err = w.WriteHeader(&h)
		}
		if err == nil {
			_, err = w.Write(content)
		}
	}
	owner := tar.Header{Typeflag: tar.TypeDir, Uid: imageUser, Gid: imageUser}
	owner.Name, owner.Mode = "data/", 0o700
	add(owner, nil)
	add(tar.Header{Typeflag: tar.TypeDir, Name: "etc/", Mode: 0o755}, nil)
	add(tar.Header{Typeflag: tar.TypeReg, Name: "etc/passwd", Mode: 0o644},
		[]byte("parley:x:65532:65532::/data:/sbin/nologin\n"))
	add(tar.Header{Typeflag: tar.TypeReg, Name: "parley", Mode: 0o755}, content)
	add(tar.Header{Typeflag: tar.TypeDir, Name: "tmp/", Mode: 0o1777}, nil)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return nil, err
	}
	return tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(bytes.NewReader(files.Bytes())), nil
	}, tarball.WithMediaType(types.OCILayer))
}

// archive writes the files of a directory into a tar file, all with the same time.
func archive(dir, file string, at time.Time) error {
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	w := tar.NewWriter(out)
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		h := tar.Header{Typeflag: tar.TypeReg, Name: filepath.ToSlash(name), Mode: 0o644, ModTime: at}
		h.Size = int64(len(content))
		if err := w.WriteHeader(&h); err != nil {
			return err
		}
		_, err = w.Write(content)
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}
