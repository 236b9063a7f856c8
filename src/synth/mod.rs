//! Shape-true data of any size, the same bytes for the same seed.

pub mod agiqa_3k;
pub mod fager;
pub mod magicbench;
pub mod magicdata340k;
mod noise;
mod prose;
pub mod qwen_image_bench;
