import { createContext, useContext } from 'react';
import { may, type rolesByRoute } from './access';
import type { Caller } from './session';

/** The person who is signed in. The pages are drawn only then. */
export const CallerContext = createContext<Caller>({ kind: 'user', id: '', name: '', role: 'integrator', project_ids: [] });

export const useCaller = (): Caller => useContext(CallerContext);

/** Reports whether the caller may call an operation. */
export function useMay(): (route: keyof typeof rolesByRoute) => boolean {
  const caller = useCaller();
  return (route) => may(caller, route);
}
