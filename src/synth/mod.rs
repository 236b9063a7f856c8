//! Shape-true data of any size, the same bytes for the same seed.

mod noise;
pub mod qwen_image_bench;
mod random;
