export * from './images.ts'
export { defaultImageLimits, type ImageLimits, type ImagesOptions, openImages } from './open-images.ts'
