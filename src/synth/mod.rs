//! Shape-true data of any size, the same bytes for the same seed.

pub mod magicdata340k;
mod noise;
mod prose;
pub mod qwen_image_bench;
mod random;
