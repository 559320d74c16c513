export { type PictureEndpointDeps, pictureEndpoints } from './picture-endpoints.ts'
