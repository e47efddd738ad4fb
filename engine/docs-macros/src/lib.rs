//! Attribute macros: [`macro@boxed`] makes a function return a boxed future, and [`macro@operation`] defines a write
//! operation.

use proc_macro::TokenStream;
use quote::quote;
use syn::{
    Error, Expr, FnArg, GenericArgument, Ident, ItemFn, Lifetime, LitStr, Pat, Path, PathArguments,
    ReturnType, Signature, Token, Type,
    parse::{Parse, ParseStream},
    parse_macro_input, parse_quote,
};

/// Turns an `async fn` into a function that returns `crate::BoxFuture<'p, T>`, with the body in `Box::pin(async move {
/// … })`.
///
/// The body of an `async fn` is compiled in every crate that awaits it. A boxed body is compiled only once, in the
/// crate that defines it (`decisions/0011-build.md`), at the cost of an allocation per call. The lifetime of the future
/// is `'p`, or the argument of the attribute.
///
/// # Example
/// ```standalone_crate
/// use docs_macros::boxed;
///
/// type BoxFuture<'a, T> = std::pin::Pin<Box<dyn Future<Output = T> + Send + 'a>>;
///
/// #[boxed('a)]
/// pub async fn length<'a>(text: &'a str) -> usize {
///     text.len()
/// }
/// # fn main() {}
/// ```
///
/// # Errors
/// Compilation fails if the function is not `async`:
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

/// Turns an `async fn` into a function that returns a `crate::store::Operation` whose body is that of the `async fn`.
///
/// The first parameter is the transaction. The generated function takes only the other parameters and stores them in
/// the operation. The body may run several times, so each of them must be a reference or `Copy`. The arguments of the
/// attribute are the name of the operation and, optionally, `taken_error`, a function from the key of an existing
/// unique value to the error.
///
/// A transaction function that takes a closure would be shorter, but a future that borrows both the transaction and the
/// captured variables cannot be required to be `Send`.
///
/// # Example
/// ```
/// # type Result<T> = std::result::Result<T, ()>;
/// # pub mod store {
/// #     pub struct Tx(pub Vec<String>);
/// #     #[async_trait::async_trait]
/// #     pub trait Operation: Send + Sync {
/// #         type Output;
/// #         const NAME: &'static str;
/// #         async fn apply(&self, tx: &mut Tx) -> super::Result<Self::Output>;
/// #     }
/// # }
/// # pub mod inner {
/// # use super::{Result, store::{Operation, Tx}};
/// # use docs_macros::operation;
/// #[operation("append")]
/// pub async fn append(tx: &mut Tx, text: &str, times: usize) -> Result<usize> {
///     tx.0.push(text.repeat(times));
///     Ok(tx.0.len())
/// }
///
/// # pub async fn example(tx: &mut Tx) -> Result<()> {
/// let twice = append("text", 2);
/// assert_eq!(twice.apply(tx).await?, 1);
/// # Ok(())
/// # }
/// # }
/// # fn main() {}
/// ```
///
/// # Errors
/// Compilation fails if the function has no transaction parameter:
/// ```compile_fail
/// #[docs_macros::operation("append")]
/// async fn append() -> Result<usize, ()> {
///     Ok(0)
/// }
/// ```
#[proc_macro_attribute]
pub fn operation(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let arguments = parse_macro_input!(arguments as OperationArguments);
    let function = parse_macro_input!(item as ItemFn);
    operation_of(arguments, function).unwrap_or_else(|error| error.into_compile_error().into())
}

struct OperationArguments {
    name: LitStr,
    taken: Option<Expr>,
}

impl Parse for OperationArguments {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let mut taken = None;
        if input.parse::<Option<Token![,]>>()?.is_some() {
            let key: Ident = input.parse()?;
            if key != "taken_error" {
                return Err(Error::new_spanned(key, "the only other argument is `taken_error`"));
            }
            input.parse::<Token![=]>()?;
            taken = Some(input.parse()?);
        }
        Ok(Self { name, taken })
    }
}

fn operation_of(arguments: OperationArguments, function: ItemFn) -> syn::Result<TokenStream> {
    let ItemFn { attrs, vis, sig: Signature { ident, inputs, output, asyncness, .. }, block } = function;
    let refused =
        || Error::new_spanned(&ident, "`operation` needs an `async fn(tx: &mut Tx, …) -> Result<…>`");
    let mut inputs = inputs.into_iter();
    let (Some(_), Some(tx), ReturnType::Type(_, output)) = (asyncness, inputs.next(), output) else {
        return Err(refused());
    };
    let out = ok_of(&output).ok_or_else(refused)?;
    let (mut names, mut types, mut borrows) = (Vec::new(), Vec::new(), false);
    for input in inputs {
        let FnArg::Typed(mut input) = input else { return Err(refused()) };
        let Pat::Ident(name) = *input.pat else {
            return Err(Error::new_spanned(input.pat, "a parameter of an operation is a name"));
        };
        borrows |= name_lifetimes(&mut input.ty);
        names.push(name.ident);
        types.push(input.ty);
    }
    let (lifetime, bound) = (borrows.then(|| quote!(<'o>)), borrows.then(|| quote!(+ 'o)));
    let taken = arguments.taken.map(|taken| {
        quote! {
            fn taken_error(&self, key: &crate::store::Key) -> crate::Error {
                let taken: fn(&crate::store::Key) -> crate::Error = #taken;
                taken(key)
            }
        }
    });
    let name = arguments.name;
    let operation = quote! {
        #(#attrs)*
        #vis fn #ident #lifetime (#(#names: #types),*) -> impl crate::store::Operation<Output = #out> #bound {
            struct Run #lifetime { #(#names: #types),* }

            #[::async_trait::async_trait]
            impl #lifetime crate::store::Operation for Run #lifetime {
                type Output = #out;
                const NAME: &'static str = #name;

                #taken

                async fn apply(&self, #tx) -> #output {
                    let Self { #(#names),* } = *self;
                    #block
                }
            }

            Run { #(#names),* }
        }
    };
    Ok(operation.into())
}

/// Returns the type of the value in a `Result`.
fn ok_of(output: &Type) -> Option<&Type> {
    let Type::Path(path) = output else { return None };
    let result = path.path.segments.last().filter(|last| last.ident == "Result")?;
    let PathArguments::AngleBracketed(arguments) = &result.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(ok)) => Some(ok),
        _ => None,
    }
}

/// Names the elided lifetimes in a type `'o`. Returns `true` if there are any.
fn name_lifetimes(of: &mut Type) -> bool {
    match of {
        Type::Reference(reference) => {
            reference.lifetime = Some(parse_quote!('o));
            name_lifetimes(&mut reference.elem);
            true
        }
        Type::Slice(slice) => name_lifetimes(&mut slice.elem),
        Type::Path(path) => name_lifetimes_of_path(&mut path.path),
        _ => false,
    }
}

fn name_lifetimes_of_path(path: &mut Path) -> bool {
    let mut any = false;
    for segment in &mut path.segments {
        let PathArguments::AngleBracketed(arguments) = &mut segment.arguments else { continue };
        for argument in &mut arguments.args {
            match argument {
                GenericArgument::Lifetime(lifetime) => {
                    *lifetime = parse_quote!('o);
                    any = true;
                }
                GenericArgument::Type(of) => any |= name_lifetimes(of),
                _ => {}
            }
        }
    }
    any
}
