// LiveKit's own meeting, with the devices and options of the room page and a seat
// from the same API.
import { LiveKitRoom, VideoConference } from '@livekit/components-react';
import '@livekit/components-styles';
import { createElement, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { reserveSeat } from './seat.js';

const roomId = location.pathname.split('/').pop();
const microphone = { echoCancellation: true, noiseSuppression: true, autoGainControl: true };
const camera = { facingMode: 'user', resolution: { width: 1280, height: 720, frameRate: 30 } };
const options = { adaptiveStream: true, dynacast: true };

function Meeting() {
  const [token, setToken] = useState(null);
  if (!token) return createElement('button', { type: 'submit', onClick: () => void reserveSeat(roomId).then(setToken) }, 'Join');
  const serverUrl = location.origin.replace(/^http/, 'ws');
  return createElement(
    LiveKitRoom,
    { token, serverUrl, connect: true, audio: microphone, video: camera, options },
    createElement(VideoConference),
  );
}

createRoot(document.body).render(createElement(Meeting));
