/**
 * Whether a key belongs to an input method, which turns several keys into one character. Safari
 * reports the key that ends the conversion after the end, with key code 229
 * (https://www.w3.org/TR/uievents/#determine-keydown-keyup-keyCode).
 */
export const isComposing = (event: Pick<KeyboardEvent, 'isComposing' | 'keyCode'>): boolean => event.isComposing || event.keyCode === 229;
