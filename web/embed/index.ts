import { ParleyRoom } from './parleyRoom';

// A page may load the script twice.
if (!customElements.get('parley-room')) customElements.define('parley-room', ParleyRoom);
