export * from './images.ts'
export { type ImageLimits, openImages } from './open-images.ts'
