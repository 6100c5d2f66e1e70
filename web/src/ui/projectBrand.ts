import type { Preview } from '../api/client';
import { Store } from '../state/store';

/** The name of the project's service; null for that of this page. */
export const brandName = new Store<string | null>(null);

/** The logo of the project; null if there is none or it could not be loaded. */
export const brandLogo = new Store<Preview['brand_logo'] | null>(null);

/** Shows the brand of the project from now on. The style sheets use the color. */
export function setBrand({ brand_name, brand_color, brand_logo }: Preview): void {
  brandName.set(brand_name ?? null);
  brandLogo.set(brand_logo ?? null);
  const root = document.documentElement;
  root.classList.toggle('branded', brand_color !== undefined);
  if (brand_color !== undefined) root.style.setProperty('--brand', brand_color);
}
