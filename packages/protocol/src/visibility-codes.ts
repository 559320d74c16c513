/** Whom an action is visible to (docs/protocol/visibility.md). */
export const visibilityCodes = ['P', 'V', 'F', 'C'] as const
