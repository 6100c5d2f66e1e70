import type { ReactElement } from 'react';
import { t } from '../messages';
import { useStore } from '../state/useStore';
import { IconShape } from './Icon';
import { brandLogo, brandName } from './projectBrand';

const mark = 'M5 4.5h14A1.5 1.5 0 0 1 20.5 6v9.5A1.5 1.5 0 0 1 19 17h-7l-4.5 4v-4H5a1.5 1.5 0 0 1-1.5-1.5V6A1.5 1.5 0 0 1 5 4.5Z';

/** The logo of the project, or the mark and the name of the service, above everything outside the room. */
export function Brand(): ReactElement {
  const name = useStore(brandName) ?? t('product');
  const logo = useStore(brandLogo);
  return (
    <p className="brand">
      {logo ? (
        <img src={logo.path} width={logo.width} height={logo.height} alt={name} onError={() => brandLogo.set(null)} />
      ) : (
        <>
          <IconShape path={mark} />
          <bdi>{name}</bdi>
        </>
      )}
    </p>
  );
}
