import { expect, test } from 'vitest';
import { detectBrowserSurface } from './browserSurface';

const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const iphone = 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko)';
const pixel = 'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko)';

test.each([
  ['Chrome on Windows', `${windows} Chrome/156.0.0.0 Safari/537.36`, 0, 'chrome'],
  ['Edge on Windows', `${windows} Chrome/156.0.0.0 Safari/537.36 Edg/156.0.0.0`, 0, 'chrome'],
  [
    'Chrome on a Mac',
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36',
    0,
    'chrome',
  ],
  ['Chrome on Windows with a touch screen', `${windows} Chrome/156.0.0.0 Safari/537.36`, 10, 'chrome'],
  ['Chrome on Android', `${pixel} Chrome/156.0.0.0 Mobile Safari/537.36`, 5, 'android'],
  ['Samsung Internet', `${pixel} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36`, 5, 'android'],
  ['Safari on a Mac', `${mac} Version/18.5 Safari/605.1.15`, 0, 'safari'],
  ['Safari on an iPhone', `${iphone} Version/18.5 Mobile/15E148 Safari/604.1`, 5, 'ios'],
  ['Safari on an iPad', `${mac} Version/18.5 Safari/605.1.15`, 5, 'ios'],
  ['Chrome on an iPhone', `${iphone} CriOS/156.0.0.0 Mobile/15E148 Safari/604.1`, 5, 'iosApp'],
  ['Firefox on an iPhone', `${iphone} FxiOS/150.0 Mobile/15E148 Safari/605.1.15`, 5, 'iosApp'],
  ['Firefox on Windows', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:150.0) Gecko/20100101 Firefox/150.0', 0, 'firefox'],
  ['Firefox on Android', 'Mozilla/5.0 (Android 15; Mobile; rv:150.0) Gecko/150.0 Firefox/150.0', 5, 'android'],
  [
    'an app on Android',
    `Mozilla/5.0 (Linux; Android 15; Pixel 9 Build/X; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/156.0.0.0 Mobile Safari/537.36`,
    5,
    'app',
  ],
  ['Facebook on Android', `${pixel} Chrome/156.0.0.0 Mobile Safari/537.36 [FBAN/FB4A;FBAV/500.0]`, 5, 'app'],
  ['Instagram on an iPhone', `${iphone} Mobile/22F76 Instagram 380.0.0`, 5, 'app'],
  ['an app on an iPhone', `${iphone} Mobile/15E148`, 5, 'app'],
  ['something else', 'Mozilla/5.0 (Unknown)', 0, 'other'],
] as const)('%s', (_, userAgent, touchPoints, way) => {
  expect(detectBrowserSurface({ userAgent, touchPoints, framed: false })).toBe(way);
  expect(detectBrowserSurface({ userAgent, touchPoints, framed: true })).toBe('frame');
});
