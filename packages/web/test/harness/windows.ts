/** Of a phone, and of a desk. */
export const phone = { width: 390, height: 844 }
export const desk = { width: 1280, height: 900 }
