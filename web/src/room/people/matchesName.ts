/** Marks above and below letters, which few people type in a search. */
const marks = /\p{M}/gu;

const fold = (text: string): string => text.normalize('NFD').replace(marks, '').toLowerCase().trim();

/** Whether a name contains the searched text, without regard to case and accents. */
export const matchesName = (name: string, search: string): boolean => fold(name).includes(fold(search));
