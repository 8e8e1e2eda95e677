//! The library façade of ample.
