/** What is known of the files that are selected. */
export const loadSelectionAside = async () => (await import('./selection-aside.tsx')).SelectionAside
