// The least a page can be: it opens the devices, shows a button, takes a seat
// from the same API as the room page, connects with LiveKit's usual options,
// shows and plays whatever comes, and sends microphone and camera.
import { Room, RoomEvent, Track } from 'livekit-client';
import { reserveSeat } from './seat.js';

const roomId = location.pathname.split('/').pop();
// The room page requests the same constraints.
const devices = navigator.mediaDevices.getUserMedia({
  audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
  video: { facingMode: 'user', width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 30 } },
});

const columns = new URLSearchParams(location.hash.slice(1)).get('grid');
const room = new Room({ adaptiveStream: true, dynacast: true });
room.on(RoomEvent.TrackSubscribed, (track) => document.body.append(track.attach()));

async function join() {
  const media_token = await reserveSeat(roomId);
  // With #send, it only sends.
  await room.connect(location.origin.replace(/^http/, 'ws'), media_token, { autoSubscribe: location.hash !== '#send' });
  const stream = await devices;
  const [microphone] = stream.getAudioTracks();
  const [camera] = stream.getVideoTracks();
  await Promise.all([
    room.localParticipant.publishTrack(microphone, { source: Track.Source.Microphone }),
    room.localParticipant.publishTrack(camera, { source: Track.Source.Camera }),
  ]);
  if (!columns) return;
  document.body.append(room.localParticipant.getTrackPublication(Track.Source.Camera).track.attach());
  document.body.style.setProperty('--columns', columns);
  document.body.classList.add('grid');
}

const button = document.createElement('button');
button.type = 'submit';
button.textContent = 'Join';
button.onclick = () => void join();
document.body.append(button);
