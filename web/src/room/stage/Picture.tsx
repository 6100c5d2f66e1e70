import { type ReactElement, useLayoutEffect, useRef, useState } from 'react';
import { BlurredCopy } from '../../ui/BlurredCopy';
import { Disc } from '../../ui/Disc';
import { LocalVideo } from '../../ui/LocalVideo';
import type { PictureSize } from '../../ui/usePictureSize';
import type { Person } from '../people/person';
import { type Fit, type Frame, fitOf } from './frames';
import { RemoteVideo } from './RemoteVideo';
import { useLastPicture } from './useLastPicture';
import type { TrackReference } from './useRemoteTracks';

interface Props {
  person: Person;
  /** The camera of somebody else. */
  camera: TrackReference | null;
  /** The visitor's own video comes from the camera directly. */
  ownTrack: MediaStreamTrack | null;
  frame: Frame | undefined;
  /** Keep the picture that the camera shows now, because the connection is lost. */
  keepLast: boolean;
}

const classNames: Record<Fit, string> = { fill: 'picture', whole: 'picture uncropped', part: 'picture part' };

/**
 * The picture of a person, and the initials until it has its first frame. The last picture of
 * somebody who lost the connection stays when the camera is gone.
 */
export function Picture({ person, camera, ownTrack, frame, keepLast }: Props): ReactElement {
  const [videoSize, setVideoSize] = useState<PictureSize | null>(null);
  const video = useRef<HTMLVideoElement>(null);
  const kept = useLastPicture(video, keepLast);
  const last = camera ? null : kept;
  const size = last ?? videoSize;
  const fit = frame ? fitOf(size, frame) : 'fill';
  // Before its size is known it would jump.
  const className = size ? classNames[fit] : 'picture unsized';
  const track = ownTrack ?? camera?.publication.track?.mediaStreamTrack;
  return (
    <>
      {fit !== 'fill' && track && <BlurredCopy track={track} />}
      {!size && <Disc identity={person.identity} name={person.name} />}
      {ownTrack ? (
        <LocalVideo track={ownTrack} className={className} onSize={setVideoSize} />
      ) : (
        camera && <RemoteVideo of={camera} className={className} onSize={setVideoSize} element={video} />
      )}
      {last && <LastPicture picture={last} className={className} />}
    </>
  );
}

function LastPicture({ picture, className }: { picture: HTMLCanvasElement; className: string }): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => canvas.current?.getContext('2d')?.drawImage(picture, 0, 0), [picture]);
  // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a canvas cannot be focused
  return <canvas ref={canvas} className={className} width={picture.width} height={picture.height} aria-hidden="true" />;
}
