import { type ReactElement, useEffect, useRef, useState } from 'react';
import { Disc } from '../../ui/Disc';
import { LocalVideo } from '../../ui/LocalVideo';
import type { PictureSize } from '../../ui/usePictureSize';
import type { Person } from '../people/person';
import { type Fit, type Frame, fitOf } from './frames';
import { RemoteVideo } from './RemoteVideo';
import type { TrackReference } from './useRemoteTracks';

interface Props {
  person: Person;
  /** The camera of somebody else. */
  camera: TrackReference | null;
  /** The visitor's own video comes from the camera directly. */
  ownTrack: MediaStreamTrack | null;
  frame: Frame | undefined;
}

const classNames: Record<Fit, string> = { fill: 'picture', whole: 'picture uncropped', part: 'picture part' };

/** The picture of a person, and the initials until it has its first frame. */
export function Picture({ person, camera, ownTrack, frame }: Props): ReactElement {
  const [size, setSize] = useState<PictureSize | null>(null);
  const fit = frame ? fitOf(size, frame) : 'fill';
  // Before its size is known it would jump.
  const className = size ? classNames[fit] : 'picture unsized';
  const track = ownTrack ?? camera?.publication.track?.mediaStreamTrack;
  return (
    <>
      {fit !== 'fill' && track && <BlurredCopy track={track} />}
      {!size && <Disc identity={person.identity} name={person.name} />}
      {ownTrack ? (
        <LocalVideo track={ownTrack} className={className} onSize={setSize} />
      ) : (
        camera && <RemoteVideo of={camera} className={className} onSize={setSize} />
      )}
    </>
  );
}

/** Fills a tile around a picture of another shape. LiveKit does not know it, so that it requests no larger video. */
function BlurredCopy({ track }: { track: MediaStreamTrack }): ReactElement {
  const video = useRef<HTMLVideoElement>(null);
  useEffect(() => {
    const element = video.current;
    if (!element) return;
    element.srcObject = new MediaStream([track]);
    element.play().catch(() => undefined);
    return () => {
      element.srcObject = null;
    };
  }, [track]);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a video without controls cannot be focused
  return <video ref={video} className="picture blurred" muted playsInline aria-hidden="true" />;
}
