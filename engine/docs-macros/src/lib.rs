//! The attribute [`macro@boxed`], for functions that return a boxed future.

use proc_macro::TokenStream;
use quote::quote;
use syn::{Error, ItemFn, Lifetime, ReturnType, parse_macro_input, parse_quote};

/// Makes an `async fn` a function that returns `crate::BoxFuture<'p, T>`, with its body in `Box::pin(async move { … })`.
///
/// The body of an `async fn` is compiled in every crate that awaits it; a boxed one is compiled once, where it is
/// defined (`decisions/0011-build.md`). Each call allocates. The lifetime of the future is `'p`, or the argument of the
/// attribute.
///
/// # Example
/// ```
/// # mod model {
/// # use docs_macros::boxed;
/// type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
///
/// # pub mod inner { use super::*;
/// #[boxed('a)]
/// pub async fn length<'a>(text: &'a str) -> usize {
///     text.len()
/// }
/// # }
/// # }
/// ```
///
/// # Errors
/// Compilation fails for a function that is not `async`:
/// ```compile_fail
/// #[docs_macros::boxed]
/// fn length(text: &str) -> usize {
///     text.len()
/// }
/// ```
#[proc_macro_attribute]
pub fn boxed(argument: TokenStream, item: TokenStream) -> TokenStream {
    let lifetime: Lifetime =
        if argument.is_empty() { parse_quote!('p) } else { parse_macro_input!(argument as Lifetime) };
    let ItemFn { attrs, vis, mut sig, block } = parse_macro_input!(item as ItemFn);
    if sig.asyncness.take().is_none() {
        return Error::new_spanned(sig.fn_token, "`boxed` needs an `async fn`").to_compile_error().into();
    }
    let output = match &sig.output {
        ReturnType::Default => quote!(()),
        ReturnType::Type(_, output) => quote!(#output),
    };
    sig.output = parse_quote!(-> crate::BoxFuture<#lifetime, #output>);
    quote! {
        #(#attrs)*
        #vis #sig {
            ::std::boxed::Box::pin(async move #block)
        }
    }
    .into()
}
